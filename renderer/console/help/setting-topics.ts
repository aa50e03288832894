import type { cardFields } from '../pages/settings/fields.ts'
import type { HelpTopic } from './topics.ts'

type Card = keyof typeof cardFields

/** Topics of the cards of the settings. */
export const cardTopics: Readonly<Partial<Record<Card, HelpTopic>>> = {
  access: 'clients',
  links: 'joining',
  cameras: 'cameras',
  devices: 'cameraReconnection',
  deadlines: 'failures',
  metrics: 'metrics',
  events: 'eventLog',
  backups: 'backups',
  recording: 'recording',
  recordingAccess: 'recording',
  objectStorage: 'objectStorage',
  live: 'liveStreams',
  trash: 'trash',
}

/** Topics of single settings, by path. */
export const fieldTopics: ReadonlyMap<string, HelpTopic> = new Map([
  ['listeners.event_port', 'janus'],
  ['access.failures_per_minute', 'reverseProxy'],
  ['media.camera_networks', 'cameraNetworks'],
  ['media.trust_any_certificate', 'cameraAddress'],
  ['media.transcoders', 'conversion'],
  ['console.viewers_watch', 'wall'],
])
