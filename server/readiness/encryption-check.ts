import type { OverviewView } from '../../shared/console/site.ts'
import { plainListeners } from '../edge/plain-listeners.ts'
import type { Settings } from '../../shared/settings.ts'
import { type Check, found } from './finding.ts'

/** Checks whether what people and clients send can be read on the network. */
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
