import { insideOf } from '../../shared/files/own-path.ts'
import type { Settings } from '../../shared/settings.ts'
import type { CameraClock } from '../readiness/clock-checks.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { machineChecks } from '../readiness/machine-checks.ts'
import type { PhoneDependencies, PhoneVisits } from '../readiness/phone-check.ts'
import { type Checks, found, Readiness } from '../readiness/readiness.ts'
import type { Listening } from './listening.ts'
import type { ControllerOptions } from './options.ts'
import type { Services } from './services.ts'

interface MachineReadiness {
  readiness: Readiness
  phone: PhoneDependencies
}

interface ReadinessDependencies {
  options: ControllerOptions
  listeners: Listening['listeners']
  visits: PhoneVisits
  settings: () => Settings
  host: () => string
  services: Pick<Services, 'outgoing' | 'media'>
}

/** Composes the readiness checks of this machine. The checks of the desktop application come from the options. */
export function machineReadiness({
  options,
  listeners,
  visits,
  settings,
  host,
  services,
}: ReadinessDependencies): MachineReadiness {
  const { dataFolder, recordingsDir, sealKey, siteKey, media, logger } = options
  const phone: PhoneDependencies = {
    visits,
    host,
    nodeUrl: () => listeners.url('node'),
    isSelfSigned: () => settings().tls.mode === 'self-signed',
  }
  const keychain: Checks =
    siteKey?.place === 'keychain' ? { key: async () => found('keyKeychain', { backend: 'keychain' }) } : {}
  const checks = machineChecks({
    phone,
    listeners,
    settings,
    dataFolder,
    recordingsFolder: recordingsDir,
    ffmpeg: media && (media.ffmpeg ?? ''),
    cameraClocks: (signal) => cameraClocks(services.outgoing, services.media, signal),
    keyFile: sealKey ?? insideOf(dataFolder, siteKey?.file ?? 'seal.key'),
  })
  return { readiness: new Readiness({ ...checks, ...keychain, ...options.readinessChecks }, logger), phone }
}

/** Reads the clocks of all joined cameras of the embedded nodes. Clocks of cameras on other nodes are unknown. */
async function cameraClocks(
  outgoing: Pick<OutgoingUsers, 'views'>,
  media: EmbeddedNodes | undefined,
  signal: AbortSignal,
): Promise<CameraClock[]> {
  const joined = outgoing.views().filter(({ state }) => state === 'joined')
  if (joined.length === 0) return []
  const asked = (media?.names ?? []).map(async (node) => {
    const client = await media?.client(node, signal)
    return (await client?.request('camera_clocks', {}, signal))?.clocks ?? []
  })
  // If a node does not respond, only the clocks of its cameras are missing.
  const answers = (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const ahead = new Map(answers.map(({ streamId, ahead_ms }) => [streamId, ahead_ms]))
  return joined.map(({ userId, userName }) => ({ name: userName || userId, aheadMs: ahead.get(userId) }))
}
