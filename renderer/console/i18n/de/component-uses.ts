import type { uses as english } from '../en/component-uses.ts'
import type { Texts } from '../text.ts'

/** Uses of the third-party components in this product. */
export const uses: Texts<typeof english> = {
  archive: 'Archive',
  http: 'HTTP',
  store: 'Dateien',
  database: 'Datenbank',
  media: 'WebRTC',
  csv: 'CSV',
  discovery: 'Suche nach Kameras',
  log: 'Protokoll',
  metrics: 'Metriken',
  sdp: 'Sitzungsbeschreibungen',
  certificate: 'Zertifikate',
  socket: 'WebSocket',
  objectStorage: 'Objektspeicher der Aufzeichnungen',
  recording: 'Schreiben und Lesen der Aufzeichnungen',
  cache: 'begrenzte Caches',
  queue: 'Warteschlangen',
  schedules: 'Zeitpläne',
  schema: 'Validierung',
  page: 'Konsole',
  chart: 'Diagramme',
  shell: 'Desktop-App',
  updates: 'Updates',
  runtime: 'Laufzeit',
}
