import { unlessAborted } from '../../shared/abort.ts'
import { testCameraSpecSchema } from '../../shared/media/test-camera.ts'
import { behaviourForm, behaviourTable } from '../../shared/media/test-camera-behaviours.ts'
import { ListenError } from '../edge/listen-error.ts'
import { CommandError, exitCodes, readCommandFlags, type RunCommand } from '../lab/command.ts'
import type { MediaLog } from '../media/base/media-log.ts'
import { TestCamera } from '../media/test-camera/test-camera.ts'
import { nodeWeb } from './node-web.ts'

/** Behaviours with their parameters and sentences, one a line, for `--help`. */
const behaviourHelp = behaviourTable.map(([name, { does }]) => `  ${behaviourForm(name)}\n      ${does}`)

/** Text of `roomdesk camera --help`. */
export const help = [
  'Usage: roomdesk camera [--port N] [flags]',
  '',
  'Runs a test camera until SIGTERM, and prints its rtsp:// address on a line of its own.',
  '',
  '  --port N                 TCP port; 0, the default, picks a free one',
  '  --network                lets other machines connect, not only this one',
  '  --onvif                  also answers as an ONVIF device; needs --network',
  '  --name NAME              path of its address; default: camera',
  '  --codec CODEC            h264 (default), h265 or mjpeg',
  '  --picture PICTURE        clip (default), or card: a test card with clock, name and number of the picture',
  '  --sound SOUND            none (default), aac, opus, pcma or pcmu',
  '  --auth LOGIN             none (default), basic, digest or digest-sha256',
  '  --user U --password P    the right login; default: admin and admin',
  '  --behaviour B            misbehaves; may be repeated',
  '',
  'Behaviours:',
  ...behaviourHelp,
].join('\n')

/** The command `roomdesk camera`. */
export const camera: RunCommand = async ({ arguments: given, signal, print, warn }) => {
  const names = ['port', 'name', 'codec', 'picture', 'sound', 'auth', 'user', 'password'] as const
  const flags = readCommandFlags(given, names, { repeated: ['behaviour'], switches: ['network', 'onvif'] })
  const { port, behaviour = [], name = 'camera', ...others } = flags
  const parsed = testCameraSpecSchema.safeParse({
    ...{ ...others, name, behaviours: behaviour },
    ...(port !== undefined && { port: /^\d{1,5}$/.test(port) ? Number(port) : port }),
  })
  if (!parsed.success) throw new CommandError(mistakes(parsed.error.issues))
  const log: MediaLog = {
    debug: () => {},
    info: () => {},
    warn: (message, detail = '') => warn(`${message} ${detail}`),
    error: (message, detail = '') => warn(`${message} ${detail}`),
  }
  const running = await TestCamera.start(parsed.data, nodeWeb(log), log).catch((error: unknown) => {
    throw error instanceof ListenError ? new CommandError(error.message, { cause: error }) : error
  })
  print(running.url)
  // Resolves only when the signal aborts.
  await unlessAborted(new Promise<never>(() => {}), signal).catch(() => {})
  running.close()
  return exitCodes.fine
}

/** Returns the mistakes of the flags in one line. */
function mistakes(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  return issues
    .map(({ path, message }) => `--${path[0] === 'behaviours' ? 'behaviour' : String(path[0])}: ${message}.`)
    .join(' ')
}
