import { stat } from 'node:fs/promises'
import type { OverviewView } from '../../shared/console/site.ts'
import type { Settings } from '../../shared/settings.ts'
import { plainListeners, portOfUrl } from '../edge/network-addresses.ts'
import type { Listeners } from '../http/listeners.ts'
import { askProgram, findProgram } from '../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { type CameraClock, cameraClocksCheck, clockCheck } from './clock-checks.ts'
import { diskCheck, spaceCheck } from './disk-check.ts'
import { firewallCheck } from './firewall-check.ts'
import { phoneCheck, type PhoneDependencies } from './phone-check.ts'
import { neededPorts, portCheck } from './port-checks.ts'
import { type Check, type Checks, findingReasonOf, found } from './readiness.ts'
import { systemTool } from './system-tool.ts'

interface MachineDependencies {
  phone: PhoneDependencies
  listeners: Pick<Listeners, 'url' | 'views'>
  settings: () => Settings
  dataFolder: string
  /** Folder of recordings, if it differs from the data folder. */
  recordingsFolder: string | undefined
  /** Path or name of ffmpeg; undefined: no media program runs here. */
  ffmpeg: string | undefined
  cameraClocks: (signal: AbortSignal) => Promise<readonly CameraClock[]>
  /** Path of the key for stored secrets. */
  keyFile: string
}

/** Returns the checks that the controller makes on every machine. */
export function machineChecks(dependencies: MachineDependencies): Checks {
  const { phone, listeners, settings, dataFolder, recordingsFolder, ffmpeg, keyFile, cameraClocks } = dependencies
  const { host, visits } = phone
  const ports = (): string[] =>
    neededPorts(settings(), (name) => portOfUrl(listeners.url(name)), listeners.url('console') !== '').map(
      ({ kind, port }) => `${kind} ${port}`,
    )
  return {
    ports: portCheck({ host, views: () => listeners.views() }),
    phone: phoneCheck(phone),
    firewall: firewallCheck({ host, ports, visits, tool: systemTool }),
    encryption: encryptionCheck({ views: () => listeners.views(), settings }),
    ...(ffmpeg === undefined ? {} : { ffmpeg: ffmpegCheck(ffmpeg) }),
    disk: diskCheck(dataFolder),
    space: spaceCheck(() => [dataFolder, ...(recordingsFolder === undefined ? [] : [recordingsFolder])]),
    clock: clockCheck(systemTool),
    cameraClocks: cameraClocksCheck(cameraClocks),
    key: keyFileCheck(keyFile),
  }
}

/** Checks whether the data of people and clients is sent unencrypted on the network. */
export function encryptionCheck({
  views,
  settings,
}: {
  views: () => OverviewView['listeners']
  settings: () => Settings
}): Check {
  return async () => {
    const plain = plainListeners(views())
    const { tls, media } = settings()
    if (plain.length === 0) return found(tls.mode === 'off' ? 'encryptionLocal' : 'encryptionOn')
    const { public_url: url } = media
    return url.startsWith('https:')
      ? found('encryptionProxy', { url })
      : found('encryptionOff', { ports: plain.join(', ') })
  }
}

/**
 * Checks whether ffmpeg is installed, and can create formats for browsers.
 * @param wanted path or name of the program; empty: `ffmpeg`
 */
export function ffmpegCheck(wanted: string): Check {
  return async () => {
    const path = await findProgram(wanted)
    if (path === undefined) {
      return wanted === ''
        ? found('ffmpegMissing')
        : found('ffmpegBroken', { reason: `${wanted} is not an executable program.` })
    }
    const program = await askProgram(path).catch((error: unknown) => ({ reason: findingReasonOf(error) }))
    if ('reason' in program) return found('ffmpegBroken', program)
    const { version, pictures: encoder, sound } = program
    const missing = [encoder === undefined ? 'H.264' : '', sound ? '' : 'Opus'].filter((name) => name !== '').join(', ')
    if (encoder === undefined || missing !== '') return found('ffmpegPart', { version, missing })
    return found('ffmpegWhole', { version, encoder })
  }
}

/** Permissions of the group and of others. */
const others = 0o077

/**
 * Checks that only this user can read the key for stored secrets.
 * @param file path of the key
 */
export function keyFileCheck(file: string, platform: NodeJS.Platform = process.platform): Check {
  return async () => {
    // On Windows a file inherits the permissions of its folder.
    if (platform === 'win32') return found('keyFile')
    const { mode } = await stat(file)
    if ((mode & others) === 0) return found('keyFile')
    return found('keyOpen', { mode: (mode & 0o777).toString(8).padStart(4, '0'), file })
  }
}
