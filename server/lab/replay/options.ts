import { CommandError, readArguments, readPace } from '../command.ts'
import { readTarget, type Target } from '../client/target.ts'

/** Options of `roomdesk replay`. */
export interface ReplayOptions {
  file: string
  target: Target
  /** Factor of the recorded pace; Infinity: as fast as possible. */
  pace: number
  /** Files for reports; undefined: none. */
  json: string | undefined
  junit: string | undefined
}

const flag = { type: 'string' } as const

/** Reads the arguments. @throws CommandError */
export async function readReplayOptions(
  given: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<ReplayOptions> {
  const { values, positionals } = parsed(given)
  const [file, ...others] = positionals
  if (file === undefined)
    throw new CommandError('The file with the recorded traffic is missing: replay FILE --against URL.')
  if (others.length > 0) throw new CommandError(`replay takes one file, not also ${others.join(', ')}.`)
  const { against, device, json, junit, pace = '1', ...credential } = values
  if (against === undefined) throw new CommandError('--against is missing: the address of the media room API.')
  const flags = { media: against, device: device ?? nextPort(against), ...credential }
  const target = await readTarget(flags, environment, 'against')
  return { file, target, pace: readPace(pace), json, junit }
}

function parsed(given: readonly string[]) {
  const options = {
    against: flag,
    device: flag,
    'access-key': flag,
    'secret-key': flag,
    ca: flag,
    pace: flag,
    json: flag,
    junit: flag,
  }
  return readArguments({ args: [...given], options, strict: true, allowPositionals: true })
}

/** Returns the same address with the next port: the device API's default port follows the media API's. */
function nextPort(media: string): string {
  const url = URL.parse(media)
  if (url === null || url.port === '') return media
  url.port = String(Number(url.port) + 1)
  return url.href
}
