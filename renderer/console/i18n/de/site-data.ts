import { restore } from './restore.ts'
import type { siteData as english } from '../en/site-data.ts'
import type { Texts } from '../text.ts'

/** Data of the site in the settings: backups, restore, move. */
export const siteData: Texts<typeof english> = {
  folder: 'Datenordner',
  folderHint:
    'Enthält alles, was diese Anlage speichert. Sichern Sie ihn als Ganzes, während der Controller beendet ist, oder verwenden Sie die Sicherungen unten.',
  disk: 'Festplatte',
  healthy: 'In Ordnung',
  ill: 'Schreiben schlägt fehl: {error}',
  flush: 'Letzter Schreibvorgang',
  backlog: 'Wartende Schreibvorgänge',
  journal: 'Journal seit dem letzten Snapshot',
  snapshot: 'Letzter Snapshot',
  backups: 'Sicherungen',
  backupsHint:
    'Snapshots von Zugangsdaten, Räumen, Knoten, Geräten, Lizenz und Einstellungen im Datenordner. Solange sich etwas ändert, wird etwa stündlich eine erstellt; die Sie erstellen oder behalten, bleiben, bis Sie sie löschen.',
  make: 'Sicherung erstellen',
  made: 'Sicherung {name} wurde erstellt',
  none: 'Noch keine Sicherung',
  noneBody: 'Erstellen Sie jetzt die erste: Es dauert nur einen Moment und stört niemanden.',
  columns: { at: 'Erstellt', name: 'Name', bytes: 'Größe', acts: 'Aktionen' },
  keep: 'Behalten',
  upload: 'Hochladen…',
  uploading: 'Wird hochgeladen… {percent}',
  uploaded: 'Sicherung hochgeladen. Noch wurde nichts wiederhergestellt.',
  uploadedMark: 'Hochgeladen',
  unkeep: 'Nicht mehr behalten',
  keptMark: 'Behalten',
  automatic: 'Automatisch',
  kind: 'Aufbewahrung',
  download: 'Herunterladen',
  downloading: 'Wird heruntergeladen… {percent}',
  downloaded: {
    file: 'Sicherung gespeichert. Bewahren Sie die Datei {file} des Datenordners mit auf: Ohne sie sind die Geheimnisse darin nicht lesbar.',
    keychain:
      'Sicherung gespeichert. Die Geheimnisse darin öffnen sich nur mit seal.key.wrapped des Datenordners, für diesen Benutzer auf diesem Computer.',
  },
  also: 'Bewahren Sie auch {file} auf: Ohne sie öffnet sich seal.key.wrapped nicht.',
  keyInKeychain:
    'Der Schlüssel der Geheimnisse (seal.key.wrapped) ist durch den Schlüsselbund dieses Benutzers verschlossen: Eine Kopie öffnet sich nur für ihn auf diesem Computer.',
  remove: 'Löschen',
  removeTitle: 'Sicherung vom {date} löschen?',
  removeBody: 'Das kann nicht rückgängig gemacht werden.',
  removed: 'Sicherung gelöscht',
  restore: 'Wiederherstellen…',
  restoreTitle: 'Sicherung vom {date} wiederherstellen?',
  restoreBody:
    'Alles kehrt zu diesem Stand zurück. Der jetzige Stand wird vorher gesichert, damit Sie das rückgängig machen können.',
  what: 'Was',
  now: 'Jetzt',
  then: 'Dann',
  change: 'Änderung',
  rooms: 'Räume',
  credentials: 'Zugangsdaten',
  nodes: 'MCU-Knoten',
  devices: 'Geräte',
  accounts: 'Konten',
  access_tokens: 'Zugriffstoken',
  wall_views: 'Ansichten der Videowand',
  same: 'gleiche Anzahl',
  ...restore,
  loseSessions:
    'Personen in Räumen, die nicht in der Sicherung sind, werden entfernt. Sitzungen von Clients sind nicht betroffen.',
  doRestore: 'Wiederherstellen',
  restored: 'Sicherung wiederhergestellt',
  restoredPartly: 'Die Sicherung wurde wiederhergestellt, aber nicht alles konnte angewendet werden: {problem}',
  losses: 'Verlorene Änderungen',
  lossesWhat:
    'Der Datenordner wurde beschädigt, und Änderungen, die Clients oder Ihnen bestätigt waren, sind verloren.',
  lossesOlder:
    'Die neueste Sicherung ({date}) ist älter als die verbliebenen Daten: Sie brächte nichts zurück. Legen Sie das Fehlende neu an, oder stellen Sie bei beendetem Controller Ihre eigene Kopie des ganzen Datenordners wieder her.',
  lossesNewer:
    'Die Sicherung vom {date} wurde nach dem Schaden erstellt und enthält das Fehlende nicht. Legen Sie es neu an, oder stellen Sie bei beendetem Controller Ihre eigene Kopie des ganzen Datenordners wieder her.',
  lossesNone:
    'Es gibt keine Sicherung. Legen Sie das Fehlende neu an, oder stellen Sie bei beendetem Controller Ihre eigene Kopie des ganzen Datenordners wieder her.',
  lossesDisk: 'Prüfen Sie auch die Festplatte: Was diese Dateien beschädigt hat, beschädigt vielleicht mehr.',
  dismiss: 'Ausblenden',
}
