#!/bin/sh
# A chess engine that answers by rote: the first move of White, and a score. Its name, that of a link to this file, says what
# it does wrong.
fault=${0##*/}
questions=0
while read -r word rest; do
    case $word in
    uci)
        case $fault in
        sleeps) sleep 1000 ;;
        floods) yes 'info string and so on' ;;
        floods_one_line) yes | tr -d '\n' ;;
        starts_another) sleep 1000 & ;;
        esac
        echo 'id name Rote 1'
        [ "$fault" = no_options ] || echo 'option name MultiPV type spin default 1 min 1 max 4'
        echo 'option name Skill Level type spin default 20 min 0 max 20'
        echo uciok
        ;;
    isready) echo readyok ;;
    go)
        questions=$((questions + 1))
        echo 'info string nothing is computed'
        case $fault in
        adds_words) echo 'info depth 1 score cp 20 wdl 30 950 20 pv e2e4' ;;
        illegal_line) echo 'info depth 1 score cp 20 pv e2e5' ;;
        illegal_end) echo 'info depth 2 score cp 20 pv e2e4 e2e4' ;;
        *) echo 'info depth 1 score cp 20 pv e2e4' ;;
        esac
        case $fault in
        dies) [ "$questions" = 1 ] || { echo 'no memory' >&2 && exit 3; } ;;
        dies_by_signal) kill -SEGV $$ ;;
        closes_output) exec >/dev/null 2>&1 ;;
        floods_later) yes 'info string and so on' ;;
        hangs) sleep 1000 ;;
        esac
        case $fault in
        illegal) echo 'bestmove e2e5' ;;
        none) echo 'bestmove (none)' ;;
        null) echo 'bestmove 0000' ;;
        escapes) printf 'bestmove \033[2Je2e4\n' ;;
        *) echo 'bestmove e2e4 ponder e7e5' ;;
        esac
        ;;
    quit)
        case $fault in
        stays | starts_another) ;;
        *) exit 0 ;;
        esac
        ;;
    esac
done
case $fault in
stays | starts_another) sleep 1000 ;;
esac
