import type { cardFields } from './fields.ts'

/** Part of the settings page that shows each card. */
export const cardTabs: Readonly<Record<keyof typeof cardFields, string>> = {
  tls: 'network',
  tlsFiles: 'network',
  servedConsole: 'network',
  access: 'access',
  olderClients: 'access',
  cors: 'access',
  links: 'media',
  transport: 'media',
  cameras: 'media',
  people: 'media',
  rooms: 'rooms',
  devices: 'rooms',
  deadlines: 'deadlines',
  look: 'console',
  metrics: 'accounts',
  journal: 'console',
  events: 'data',
  backups: 'data',
  pictures: 'data',
  recording: 'recording',
  recordingAccess: 'recording',
  objectStorage: 'recording',
  live: 'recording',
  trash: 'data',
}
