import type { objectStorage as english } from '../en/object-storage.ts'
import type { Texts } from '../text.ts'

/** Object storage of recordings. */
export const objectStorage: Texts<typeof english> = {
  test: 'Verbindung prüfen',
  testing: 'Wird geprüft…',
  works: 'Es funktioniert: aufgelistet, geschrieben, gelesen und gelöscht in {ms} ms.',
  unsavedTest: 'Geprüft wird, was hier eingetragen ist, gespeichert oder nicht.',
  fault: '{step} {problem}',
  steps: {
    list: 'Der Bucket konnte nicht aufgelistet werden.',
    put: 'Ein Testobjekt konnte nicht geschrieben werden.',
    get: 'Das Testobjekt konnte nicht gelesen werden.',
    delete: 'Das Testobjekt konnte nicht gelöscht werden.',
  },
  status: {
    name: 'Objektspeicher',
    stored: '{size} in {n} Segment | {size} in {n} Segmenten',
    remoteOnly: '; {count} nur dort',
    waiting: 'Noch hochzuladen',
    waitingText: '{size} in {n} Segment, das älteste seit {time} | {size} in {n} Segmenten, das älteste seit {time}',
    deleting: 'Noch zu löschende Objekte',
  },
  failed: 'Der Objektspeicher kann nicht benutzt werden. Bis dahin bleiben Aufzeichnungen auf dem Datenträger.',
  problems: {
    incomplete: 'Tragen Sie Adresse, Bucket, Schlüssel-ID und geheimen Schlüssel ein.',
    ownPort: 'Die Adresse führt zu einem Port von Roomdesk selbst. Tragen Sie die des Speichers ein.',
    notPermitted:
      'Die Adresse führt zu diesem Rechner, zu einer Link-Local-Adresse oder aus den zugelassenen Netzen hinaus. Tragen Sie ihr Netz unter „Zugelassene Netze“ ein.',
    otherSite:
      'Ein anderes System legt seine Aufzeichnungen mit diesem Präfix in diesem Bucket ab. Wählen Sie ein anderes Präfix, oder löschen Sie dort roomdesk-recordings.json, um die Aufzeichnungen zu übernehmen.',
    caFile:
      'Die Datei der Zertifizierungsstellen kann nicht gelesen werden oder enthält kein PEM-Zertifikat. Prüfen Sie den Pfad.',
    notFound: 'Der Host wurde nicht gefunden. Prüfen Sie Adresse und Namensserver.',
    unreachable: 'Der Speicher ist nicht erreichbar. Prüfen Sie Adresse, Port und Netz.',
    silent: 'Der Speicher hat nicht rechtzeitig geantwortet. Prüfen Sie ihn und das Netz.',
    certificate:
      'Dem Zertifikat wird nicht vertraut. Tragen Sie die Datei seiner Zertifizierungsstelle ein, oder prüfen Sie Hostnamen und Gültigkeit.',
    keyUnknown: 'Der Speicher kennt diese Schlüssel-ID nicht. Prüfen Sie die Schlüssel-ID.',
    signature: 'Der Speicher nimmt die Signatur nicht an. Prüfen Sie den geheimen Schlüssel und die Region.',
    denied:
      'Der Schlüssel darf das nicht. Erlauben Sie ihm, den Bucket aufzulisten und darin Objekte zu schreiben, zu lesen und zu löschen.',
    clock: 'Die Uhr dieses Rechners weicht zu sehr von der des Speichers ab. Stellen Sie die Uhr.',
    bucket: 'Diesen Bucket gibt es nicht. Legen Sie ihn an, oder prüfen Sie den Namen.',
    region: 'Der Bucket liegt in einer anderen Region. Prüfen Sie Region und Adresse.',
    full: 'Der Speicher ist voll. Schaffen Sie dort Platz.',
    mismatch: 'Der Speicher enthält andere Bytes, als gesendet wurden. Prüfen Sie ihn und etwaige Proxys davor.',
    missing: 'Der Speicher enthält eine Aufzeichnung nicht mehr.',
    refused: 'Der Speicher hat abgelehnt.',
    noService: 'Die Adresse antwortet, aber nicht als S3-kompatibler Dienst. Prüfen Sie die Adresse.',
  },
}
