import type { SettingCard } from '../../../shared/settings/setting.ts'
import type { SettingPath } from '../../../shared/settings.ts'

/** Pages and headings of the docs that fields of the console link to, by topic. A test checks that each exists. */
export const helpTopics = {
  accounts: '/help/operate/install#accounts-and-access-tokens',
  addresses: '/help/operate/network#addresses-that-clients-get',
  backupOrigin: '/help/operate/data#origin-of-a-backup',
  backups: '/help/operate/install#backup-and-restore',
  cameras: '/help/operate/cameras',
  cameraAddress: '/help/operate/cameras#the-address',
  cameraLogin: '/help/operate/cameras#the-login',
  cameraNetworks: '/help/operate/cameras#which-addresses-are-called',
  cameraReconnection: '/help/operate/cameras#when-a-camera-is-lost',
  certificate: '/help/operate/install#self-signed-certificate',
  clients: '/help/integrate/clients',
  controllers: '/help/operate/high-availability',
  conversion: '/help/operate/install#cameras-that-browsers-cannot-play',
  dataFolder: '/help/operate/data',
  database: '/help/operate/data#the-state-in-postgresql',
  eventLog: '/help/operate/data#the-event-log',
  failures: '/help/operate/scale#when-a-part-fails',
  janus: '/help/operate/install#more-machines-janus-servers',
  joining: '/help/operate/install#first-steps',
  lab: '/help/integrate/lab',
  liveStreams: '/help/integrate/recording#watch-live',
  losses: '/help/operate/data#after-a-loss',
  metrics: '/help/operate/metrics',
  nodes: '/help/operate/install#more-cores-more-nodes',
  objectStorage: '/help/operate/recording#object-storage',
  olderClients: '/help/integrate/moving#prepare-the-site',
  ports: '/help/operate/network#connections',
  readiness: '/help/operate/readiness',
  recording: '/help/operate/recording',
  recordings: '/help/operate/recording#watch-and-export',
  reverseProxy: '/help/operate/install#behind-a-reverse-proxy',
  scenarios: '/help/integrate/scenarios',
  stunAndTurn: '/help/operate/network#stun-and-turn',
  trash: '/help/operate/data#restore-what-was-deleted',
  updates: '/help/operate/desktop#updates',
  wall: '/help/operate/wall',
  wallDisplays: '/help/operate/wall#on-the-displays-of-this-computer',
  watch: '/help/integrate/lab#does-a-client-follow-the-contract',
} as const

export type HelpTopic = keyof typeof helpTopics

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
