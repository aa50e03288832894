import { readFile } from 'node:fs/promises'
import { CommandError, exitCodes, onlyArgument, readArguments, type RunCommand } from '../command.ts'
import { checkPage } from '../report-page.ts'

/** Text of `roomdesk check-report --help`. */
export const help = `Usage: roomdesk check-report FILE [--key KEY]

Says whether a report about a client or a server is as it was signed.

  --key KEY                the key that must have signed it: of a site, at the bottom of the client's page of its
                           console; of a conformance run, in its output

Exit code: 0 it is, 1 it is not, 2 the file cannot be read.`

/** The command `roomdesk check-report`: checks the signature of a report. */
export const checkReport: RunCommand = async ({ arguments: given, print }) => {
  const { file, key } = fileAndKey(given)
  const signature = checkPage(await read(file))
  if (signature === undefined) {
    print(`${file} has no signature in its last line: it is no signed report, or was shortened.`)
    return exitCodes.found
  }
  if (!signature.isValid) {
    print(`${file} is not as it was signed.`)
    return exitCodes.found
  }
  print(`${file} is as it was signed, with the key ${signature.key}.`)
  if (key === undefined) print('Compare this key with that of the site, or give it as --key.')
  else if (key !== signature.key) {
    print(`That is another key than ${key}.`)
    return exitCodes.found
  }
  return exitCodes.fine
}

function fileAndKey(given: readonly string[]): { file: string; key: string | undefined } {
  const options = { key: { type: 'string' } } as const
  const { values, positionals } = readArguments({ args: [...given], options, strict: true, allowPositionals: true })
  return { file: onlyArgument(positionals, 'check-report FILE'), key: values.key }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`${file} cannot be read: ${reason}.`, { cause: error })
  }
}
