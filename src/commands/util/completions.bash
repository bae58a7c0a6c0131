# readline breaks words at `=` and `:`, which cells and tags have. This function joins them for cwm, and removes from the
# candidates what readline has before the last break.
_cwm() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() count=0 index word
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if ((index == 0)) || [[ $rest == [[:blank:]]* ]]; then
            rest=${rest#"${rest%%[![:blank:]]*}"}
            words[count++]=$word
        else
            words[count - 1]+=$word
        fi
        rest=${rest#"$word"}
    done
    local whole=${words[count - 1]} broken=''
    [[ $whole == [\'\"]* ]] || for word in '=' ':'; do
        [[ $COMP_WORDBREAKS == *"$word"* && ${whole%"$word"*} != "$whole" ]] || continue
        word=${whole%"$word"*}$word
        ((${#word} <= ${#broken})) || broken=$word
    done
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$((count - 1))
    _clap_complete_cwm cwm "$whole" "${words[count - 2]-}"
    COMPREPLY=("${COMPREPLY[@]#"$broken"}")
}
