# Completion of qactl for fish: 'qactl complete' knows commands, options and the targets of now.

function __qactl_offer
    set -l words (commandline -opc) "$(commandline -ct)"
    set -l program $words[1]
    for line in ($program complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case \tfile
                __fish_complete_path "$words[-1]"
            case \tprogram
                complete -C "$words[-1]"
            case '*'
                echo $line
        end
    end
end

complete -c qactl -f -a '(__qactl_offer)'
