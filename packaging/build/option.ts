/** A flag of the program, as its help tells it. */
export interface Option {
  flag: string
  /** Value to give it, e.g. `ADDRESS` or `on|off`; empty: nothing. */
  argument: string
  text: string
}

/** @param usage the program's help: a line of `--flag ARGUMENT  text` each, which goes on in lines without a flag */
export function readOptions(usage: string): Option[] {
  const options: Option[] = []
  for (const line of usage.split('\n').slice(1)) {
    const [, flag, argument, text] = /^ {2}--([\w-]+)(?: (\S+(?: on)?))?(?: {2,}(.*))?$/.exec(line) ?? []
    const last = options.at(-1)
    if (flag !== undefined) options.push({ flag, argument: argument ?? '', text: text ?? '' })
    else if (last) last.text = `${last.text} ${line.trim()}`.trim()
  }
  return options
}

/** It does one thing and ends, or is for one start: nothing to keep in a file of options. */
const isForOnce = ({ flag, text }: Option): boolean => / and end\b/.test(text) || flag === 'console-key'

/** The file of options of the service: every one of them, commented out, with what holds without it. */
export function optionsFile(options: readonly Option[]): string {
  const lasting = options.filter((option) => !isForOnce(option) && option.flag !== 'data-dir')
  const entries = lasting.map((option) => {
    const variable = `ROOMDESK_${option.flag.toUpperCase().replaceAll('-', '_')}`
    const byDefault = /\(default:? ([\w.]+)(?=[):;,]| \()/.exec(option.text)?.[1]
    const example = byDefault === undefined || byDefault === 'off' ? '' : byDefault
    return `# ${option.argument}: ${option.text}\n#${variable}=${example}\n`
  })
  return [
    '# Options of the service roomdesk, one a line, as systemd reads them (systemd.exec(5), EnvironmentFile=).',
    '# After a change: systemctl restart roomdesk',
    '#',
    '# The data is in /var/lib/roomdesk, where alone the service may write.',
    '',
    ...entries,
  ].join('\n')
}

/** The manual page of the command, in the language of man(7). @param commands the help's section about commands */
export function manualPage(options: readonly Option[], commands: string, version: string, date: string): string {
  const escape = (text: string): string =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replaceAll(/^([.'])/gm, '\\&$1')
  const entries = options.map(
    ({ flag, argument, text }) =>
      `.TP\n.B ${escape(`--${flag}`)}${argument === '' ? '' : ` ${escape(argument)}`}\n${escape(text)}`,
  )
  return `.TH ROOMDESK 1 "${date}" "Roomdesk ${version}"
.SH NAME
roomdesk \\- media rooms and RTSP devices under one roof
.SH SYNOPSIS
.B roomdesk
.RI [ flags ]
.br
.B roomdesk
.I COMMAND
.RI [ flags ]
.SH DESCRIPTION
Runs Roomdesk, or does what one of the flags names.
The service
.I roomdesk.service
runs it with the options in
.IR /etc/roomdesk/roomdesk.env .
.PP
For root, where these options are, the command works with them on the data of the service, as the user
.IR roomdesk .
Stop the service before, but for
.B \\-\\-help
and
.BR \\-\\-janus\\-config .
For anybody else it is a program of their own, with data of their own.
.SH COMMANDS
.nf
${escape(commands)}
.fi
.SH OPTIONS
Each is also an environment variable:
.B \\-\\-data\\-dir
is
.BR ROOMDESK_DATA_DIR .
${entries.join('\n')}
.SH FILES
.TP
.I /etc/roomdesk/roomdesk.env
options of the service
.TP
.I /var/lib/roomdesk
the site
.TP
.I /var/lib/roomdesk/console.key
the key that the console asks for
.SH SEE ALSO
.BR systemctl (1),
.BR journalctl (1)
`
}
