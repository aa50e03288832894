import type { Settings } from '../../shared/settings.ts'
import { portOfUrl } from '../edge/network-addresses.ts'
import type { Listeners } from '../http/listeners.ts'
import { type CameraClock, cameraClocksCheck } from './camera-clocks-check.ts'
import { clockCheck } from './clock-check.ts'
import { diskCheck, spaceCheck } from './disk-check.ts'
import { ffmpegCheck } from './ffmpeg-check.ts'
import { encryptionCheck } from './encryption-check.ts'
import { firewallCheck } from './firewall-check.ts'
import { keyFileCheck } from './key-check.ts'
import { neededPorts } from './needed-ports.ts'
import { phoneCheck, type PhoneParts } from './phone-check.ts'
import { portCheck } from './port-check.ts'
import type { Checks } from './readiness.ts'
import { systemTool } from './system-tool.ts'

/** Needs of the checks of every machine. */
export interface MachineParts {
  phone: PhoneParts
  listeners: Pick<Listeners, 'url' | 'views'>
  settings: () => Settings
  dataFolder: string
  /** Folder of recordings, if it is another one. */
  recordingsFolder: string | undefined
  /** Path or name of ffmpeg; undefined: no media program runs here. */
  ffmpeg: string | undefined
  /** Reads the clocks of cameras. */
  cameraClocks: (signal: AbortSignal) => Promise<readonly CameraClock[]>
  /** Path of the key of stored secrets. */
  keyFile: string
}

/** Checks that the controller makes on every machine. */
export function machineChecks(parts: MachineParts): Checks {
  const { phone, listeners, settings, dataFolder, recordingsFolder, ffmpeg, keyFile, cameraClocks } = parts
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
