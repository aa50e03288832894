import type { recording as english } from '../en/recording.ts'
import type { Texts } from '../text.ts'
import { objectStorage } from './object-storage.ts'

/** Aufzeichnung: Regeln, Schaltflächen, Zustand und Platz. */
export const recording: Texts<typeof english> = {
  title: 'Aufzeichnung',
  on: 'Aufzeichnung läuft',
  since: 'Aufzeichnung läuft seit {time}, {by}',
  idle: 'Wird gerade nicht aufgezeichnet',
  waiting: 'Beginnt mit dem ersten Bild oder Ton',
  notJoined: 'Nicht aufgezeichnet: nicht verbunden',
  by: {
    rule: 'nach der Regel',
    operator: 'gestartet von {name}',
    host: 'gestartet vom Gastgeber {name}',
    client: 'gestartet vom Client {name}',
    order: 'in eine Datei, gestartet von {name}',
    orderOfSomebody: 'in eine Datei, gestartet von einem Operator',
  },
  hindrances: {
    node: 'Keine Aufzeichnung: Der Knoten kann nicht aufzeichnen',
    off: 'Keine Aufzeichnung: Der Ordner der Aufzeichnungen kann nicht benutzt werden',
    storageLow: 'Keine Aufzeichnung: Der Datenträger ist fast voll',
    away: 'Keine Aufzeichnung: Es ist niemand da',
  },
  impossible: 'Aufzeichnen braucht einen eingebauten Medienknoten; dieser Raum liegt auf {node}.',
  start: 'Aufzeichnen',
  startRoom: 'Raum aufzeichnen',
  stop: 'Aufzeichnung beenden',
  started: 'Aufzeichnung von „{name}“ gestartet',
  stopped: 'Aufzeichnung von „{name}“ beendet',
  goesOn: 'Die Regel von „{name}“ zeichnet weiter auf: Ändern Sie die Regel, um sie zu beenden.',
  confirmStart: {
    title: '„{name}“ aufzeichnen?',
    body: 'Alle Kameras, Mikrofone und Bildschirme des Raums werden aufgezeichnet, bis jemand die Aufzeichnung beendet oder die Besprechung endet. Alle im Raum sehen und hören das.',
    action: 'Aufzeichnen',
  },
  menu: 'Aufzeichnungsregel ändern…',
  withRoom: 'Mit dem Raum: {state}',
  rule: 'Regel',
  ruleIs: 'Regel: {rule}',
  edit: 'Regel ändern',
  ruleOf: 'Aufzeichnung von „{name}“',
  saved: 'Regel gespeichert',
  inherit: 'Wie im System ({rule})',
  fields: {
    when: 'Aufzeichnen',
    quality: 'Stream der Kamera',
    retention: 'Aufbewahrung',
    ownRetention: 'Eigene Aufbewahrung',
    days: 'Tage',
    gigabytes: 'Gigabyte',
    days_of: 'Tage',
    from: 'Von',
    to: 'Bis',
    zone: 'Zeitzone',
  },
  hints: {
    days: '0: keine Grenze.',
    gigabytes: '0: keine Grenze.',
    to: 'Früher als „Von“: über Mitternacht.',
  },
  when: {
    never: 'Nur von Hand',
    always: 'Immer',
    occupied: 'Solange Personen im Raum sind',
    hours: 'Zu bestimmten Zeiten',
  },
  whenRoom: { always: 'Sobald jemand oder eine Kamera im Raum ist' },
  hoursText: '{days}, {from} bis {to} ({zone})',
  addHours: 'Zeiten hinzufügen',
  removeHours: 'Zeiten entfernen',
  quality: { main: 'Hauptstream', substream: 'Substream (kleiner)' },
  people: 'Personen darin sehen, dass sie aufgezeichnet werden.',
  defaults: {
    title: 'Regeln',
    hint: 'Für Räume und Kameras ohne eigene Regel.',
    rooms: 'Räume',
    cameras: 'Kameras',
    retention: 'Aufbewahrung',
  },
  status: {
    title: 'Platz',
    hint: 'Wo Aufzeichnungen liegen und wie lange der Datenträger reicht.',
    folder: 'Ordner der Aufzeichnungen',
    now: 'Jetzt aufgezeichnet',
    streams: '{n} Stream | {n} Streams',
    size: 'Aufzeichnungen',
    sizeText: '{size} in {n} Segment | {size} in {n} Segmenten',
    kept: 'Dauerhaft behalten',
    span: 'Älteste',
    free: 'Frei auf dem Datenträger',
    freeText: '{free} von {capacity}; {reserve} bleiben frei',
    rate: 'Rate',
    perSecond: '{size} pro Sekunde',
    full: 'Datenträger voll in',
    fullText:
      '{count} Tag bei dieser Rate, danach werden die ältesten gelöscht | {count} Tagen bei dieser Rate, danach werden die ältesten gelöscht',
    deleting: 'Noch zu entfernende Dateien',
  },
  problems: {
    folderMissing:
      'Der Ordner {subject} existiert nicht. Hängen Sie den Datenträger ein oder legen Sie den Ordner an, dann starten Sie Roomdesk neu.',
    folderReadOnly:
      'Der Ordner {subject} kann nicht beschrieben werden. Geben Sie Roomdesk das Recht dazu, dann starten Sie es neu.',
    folderOfOtherSite:
      'Der Ordner {subject} gehört einem anderen System. Wählen Sie einen anderen mit --recordings-dir, oder löschen Sie darin roomdesk-recordings.json, um die Aufzeichnungen zu übernehmen.',
    folderFailed:
      'Der Ordner {subject} kann nicht benutzt werden. Prüfen Sie den Datenträger, dann starten Sie Roomdesk neu.',
    indexRebuilding:
      'Der Index der Aufzeichnungen wird aus den Dateien neu aufgebaut; ältere Aufzeichnungen erscheinen nach und nach.',
    storageLow:
      'Der Datenträger ist fast voll: Die Aufzeichnung wurde angehalten. Schaffen Sie Platz, verkürzen Sie die Aufbewahrung, oder löschen Sie behaltene Aufzeichnungen.',
    writeFailed: 'Eine Aufzeichnung konnte nicht geschrieben werden. Prüfen Sie den Datenträger.',
    filesMissing:
      'Dateien von Aufzeichnungen fehlen oder sind beschädigt: {subject} Segmente sind in der Zeitleiste entfernt oder gekürzt. Welche, steht in den Ereignissen.',
    diskLate:
      'Der Datenträger ist zu langsam: Bei einem Stromausfall gingen bis zu {subject} s mehr verloren als sonst. Zeichnen Sie weniger oder kleinere Streams auf, oder nehmen Sie einen schnelleren Datenträger.',
    objectsFailed: 'Objektspeicher: {subject}',
    nodeCannotRecord:
      '„{subject}“ soll aufgezeichnet werden, aber der Knoten kann nicht aufzeichnen: Das können nur eingebaute Knoten.',
  },
  stays: 'Etwaige Aufzeichnungen bleiben, bis ihre Aufbewahrung sie löscht.',
  storage: objectStorage,
}
