import type { SettingCard } from '../../../shared/settings/setting.ts'
import type { SettingPath } from '../../../shared/settings.ts'
import type { HelpTopic } from './topics.ts'

/** Topics of the cards. */
export const cardTopics: Readonly<Partial<Record<SettingCard, HelpTopic>>> = {
  access: 'clients',
  olderClients: 'olderClients',
  tls: 'certificate',
  links: 'joining',
  transport: 'addresses',
  cameras: 'cameras',
  devices: 'cameraReconnection',
  deadlines: 'failures',
  metrics: 'metrics',
  events: 'eventLog',
  backups: 'backups',
  recording: 'recording',
  recordingAccess: 'recording',
  live: 'liveStreams',
  trash: 'trash',
}

/** Topics of single settings. */
export const fieldTopics: ReadonlyMap<SettingPath, HelpTopic> = new Map<SettingPath, HelpTopic>([
  ['listeners.event_port', 'janus'],
  ['access.failures_per_minute', 'reverseProxy'],
  ['media.ice_servers', 'stunAndTurn'],
  ['media.public_url', 'addresses'],
  ['media.camera_networks', 'cameraNetworks'],
  ['media.trust_any_certificate', 'cameraAddress'],
  ['media.transcoders', 'conversion'],
  ['console.viewers_watch', 'wall'],
])
