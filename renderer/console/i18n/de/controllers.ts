import type { Texts } from '../text.ts'
import type { controllers as english } from '../en/controllers.ts'

export const controllers: Texts<typeof english> = {
  title: 'Controller',
  purpose:
    'Ein Controller ist der Leader und bedient die Anlage; die anderen sind Replicas und übernehmen, wenn er ausfällt.',
  alone: 'Ein Controller bedient diese Anlage',
  aloneBody:
    'Ihr Zustand liegt in Dateien auf diesem Computer. Um einen zweiten Controller hinzuzufügen, verschieben Sie den Zustand nach PostgreSQL und starten Sie einen weiteren Controller mit derselben Datenbank.',
  aloneDocs: 'Mehrere Controller betreiben',
  noStandby: 'Keine Replica: Wenn dieser Controller ausfällt, steht die Anlage, bis er zurück ist.',
  this: 'dieser',
  columns: {
    name: 'Controller',
    role: 'Rolle',
    behind: 'Rückstand',
    seen: 'Zuletzt gesehen',
    version: 'Version',
    console: 'Konsole',
    actions: 'Aktionen',
  },
  roles: { leader: 'Leader', standby: 'Replica', gone: 'Weg' },
  since: '{state} seit {span}',
  goneSince: 'Weg seit {span}',
  upToDate: 'Aktuell',
  behind: '{count} Änderung, {time} | {count} Änderungen, {time}',
  unknown: 'unbekannt',
  otherVersion: 'Der Leader läuft mit {version}: Installieren Sie auf allen Controllern dieselbe Version.',
  lease: {
    epoch: 'Epoche {epoch}.',
    steady: 'Der Leader hat seine Lease ohne Lücke nachgewiesen.',
    lapses:
      'Der Leader konnte seine Lease {lapses}-mal nicht nachweisen, {waits} Anfragen haben deshalb gewartet: Prüfen Sie die Datenbank und den Weg zu ihr. | Der Leader konnte seine Lease {lapses}-mal nicht nachweisen, {waits} Anfragen haben deshalb gewartet: Prüfen Sie die Datenbank und den Weg zu ihr.',
  },
  unreachable:
    'Dieser Controller erreicht {name} nicht; Lesezugriffe stehen daher, wenn die Datenbank weg ist. Prüfen Sie das Netz und die Firewall zwischen den beiden Computern.',
  refusedPlain:
    '{name} ist auf einem anderen Computer und meldet kein Zertifikat; dieser Controller sendet ihm daher nichts: Aktualisieren Sie {name} oder starten Sie diesen Controller mit --allow-plain-controllers on.',
  noConsole: 'nur auf diesem Computer',
  openConsole: 'Konsole von {name} öffnen',
  medium: {
    title: 'Datenbank',
    reachable: 'Erreichbar',
    away: 'Nicht erreichbar seit {since}',
    awayBody: 'Änderungen werden abgewiesen, bis sie zurück ist. Besprechungen und Ansehen gehen weiter.',
    known: 'Stand der Liste: {since}.',
  },
  panel: {
    title: 'Adressen',
    media: 'Medien-API',
    device: 'Geräte-API',
    node: 'Knotenport',
    console: 'Konsole',
    event: 'Ereignisport',
    closed: 'nicht geöffnet',
    id: 'ID',
    since: 'In dieser Rolle seit',
  },
  lead: {
    act: 'Zum Leader machen',
    title: '{name} zum Leader machen?',
    body: '{leader} schließt laufende Änderungen ab und übergibt an {name}.',
    changes: 'Änderungen sind nach einer Sekunde wieder möglich; bestätigte bleiben erhalten.',
    people:
      'Personen in Räumen auf eingebauten Knoten wechseln innerhalb von 5 s zum neuen Leader; Räume auf Janus-Knoten sind nicht betroffen.',
    consoles: 'Die Konsole von {leader} kann nur noch lesen.',
    behind:
      '{name} ist {count} Änderung zurück und holt erst auf. | {name} ist {count} Änderungen zurück und holt erst auf.',
    working: 'Übergabe an {name}…',
    done: '{name} ist jetzt der Leader; die Übergabe dauerte {time}.',
    failed: 'Der Leader wurde nicht gewechselt: {message}',
    late: '{name} hat nicht innerhalb von {seconds} s übernommen.',
    dismiss: 'Schließen',
  },
  banner: {
    standby: 'Replica, nur lesen. Der Leader ist {name}.',
    open: 'Konsole von {name} öffnen',
    nobody: 'Kein Leader seit {since}: Änderungen warten oder werden abgewiesen, bis ein Controller übernimmt.',
    database:
      'Die Datenbank ist seit {since} nicht erreichbar ({reason}): Änderungen werden abgewiesen; Besprechungen und Ansehen gehen weiter.',
    unreachable:
      'Dieser Controller erreicht {name} nicht ({ports}): Aufrufe, die hier ankommen, werden abgewiesen. Prüfen Sie das Netz und die Firewall zwischen den beiden Computern.',
    show: 'Controller anzeigen',
  },
}
