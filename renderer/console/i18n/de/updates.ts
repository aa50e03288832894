import type { Texts } from '../text.ts'
import type { updates as english } from '../en/updates.ts'

export const updates: Texts<typeof english> = {
  title: 'Updates dieser App',
  hint: 'Von einem eigenen Ort: ein Webserver oder ein Ordner mit den Dateien der Version. Ohne ihn fragt die App niemanden.',
  source: 'Adresse oder Ordner',
  sourceHint: 'Geprüft eine Minute nach jedem Start und alle sechs Stunden. Leer: aus.',
  sourceExample: 'https://files.example.com/roomdesk',
  when: 'Zeitpunkt der Installation',
  byOperator: 'Wenn ich es sage',
  quiet: 'Von selbst, sobald fünf Minuten lang niemand in einem Raum war',
  hour: 'Uhrzeit',
  hourHint: 'Nach der Uhr dieses Computers.',
  anyTime: 'Jederzeit',
  check: 'Jetzt prüfen',
  install: 'Installieren und neu starten',
  again: 'Erneut versuchen',
  open: 'Abbild öffnen',
  command: 'Befehl',
  show: 'Datei zeigen',
  file: 'Installationsdatei',
  notes: 'Neu in {version}',
  saved: 'Updates gespeichert',
  checking: 'Prüft…',
  fetching: 'Lädt {version}: {done} von {whole}',
  installing: 'Installiert {version}…',
  ready: 'Version {version} kann installiert werden',
  notChecked: 'Dies ist {version}. Seit dem Start nicht geprüft.',
  newest: 'Dies ist {version}. Nichts Neueres gefunden ({at}).',
  proven: 'Die Installationsdatei ist vollständig und vom Herausgeber dieser App signiert.',
  package:
    'Das System fragt nach dem Passwort eines Administrators; die App läuft so lange weiter und startet dann neu. In einem Terminal leistet dieser Befehl dasselbe; starten Sie die App danach neu.',
  elevated:
    'Windows fragt nach der Zustimmung eines Administrators, also muss jemand an diesem Computer sein: Das Update wird nie von selbst installiert.',
  image:
    'Öffnen Sie das Abbild, beenden Sie Roomdesk, ziehen Sie das Symbol auf „Programme“ und wählen Sie „Ersetzen“; öffnen Sie die App dann wieder. Alle Daten bleiben.',
  byCommand: 'Installieren Sie mit diesem Befehl, und starten Sie die App dann neu. Alle Daten bleiben.',
  byHand:
    'Dieses System verlangt für die Installation Rechte: Öffnen Sie die Datei selbst. Die App endet geordnet und behält alle Daten.',
  askTitle: '{version} jetzt installieren?',
  askBody: 'Roomdesk endet geordnet und startet von selbst neu. Clients, Kameras und Personen verbinden sich neu.',
  losePeople:
    'Eine Person in einer Besprechung verliert währenddessen das Bild | {n} Personen in Besprechungen verlieren währenddessen das Bild',
  warn: 'Zuerst ankündigen: in zwei Minuten installieren',
  warned: 'Version {version} wird gleich installiert. Die Personen in Besprechungen wissen Bescheid.',
  cancel: 'Absagen',
  problems: {
    badSource: 'Das ist weder die Adresse eines Webservers noch der ganze Pfad eines Ordners: {detail}',
    plainHttp:
      'Updates von {detail} über HTTP ohne Verschlüsselung könnten unterwegs ausgetauscht werden. Verwenden Sie eine Adresse mit https:// oder einen Ordner.',
    unreachable: 'Der Ort der Updates ist nicht erreichbar ({detail}). Prüfen Sie Adresse und Netzwerk.',
    silent: '{detail} antwortet nicht. Die App versucht es später erneut.',
    refused: 'Der Server gibt die Datei nicht heraus: {detail}',
    noFile: 'Die Datei {detail} gibt es nicht. Kopieren Sie alle Dateien der Version an diesen Ort.',
    unreadable: 'Das Update kann nicht gelesen oder gespeichert werden: {detail}',
    malformed: '{detail} beschreibt keine Version. Kopieren Sie die Datei unverändert noch einmal dorthin.',
    noKey:
      'Diese App nimmt keine Updates an: Sie enthält keinen Schlüssel ihres Herausgebers und könnte nicht beweisen, von wem ein Update stammt. Installieren Sie neue Versionen von Hand, oder eine, die mit einem Schlüssel gepackt wurde.',
    notSigned:
      'Die Version ist nicht signiert ({detail}) und wird nicht angeboten. Kopieren Sie alle Dateien der Version an diesen Ort, auch die mit der Endung .sig.',
    otherKey:
      '{detail} wurde mit einem Schlüssel signiert, den diese App nicht kennt, oder nach dem Signieren geändert. Die Version wird nicht angeboten. Kopieren Sie die Datei noch einmal zusammen mit ihrer .sig-Datei dorthin, oder fragen Sie den Herausgeber dieser App.',
    noInstaller: 'Die Version hat keine Installationsdatei für dieses System ({detail}).',
    truncated: '{detail} endete zu früh. Die App lädt die Datei bei der nächsten Prüfung erneut.',
    checksum:
      '{detail} ist nicht die Datei, die zur Version gehört: Die Prüfsumme weicht ab. Sie wurde gelöscht. Kopieren Sie sie noch einmal dorthin.',
    signature:
      'Die Installationsdatei ist nicht vom selben Aussteller signiert wie diese App ({detail}). Sie wird nicht installiert.',
    diskFull: 'Der Datenträger ist voll. Schaffen Sie Platz und prüfen Sie erneut.',
    notWritten:
      'Die App kann nicht ersetzt werden: {detail}. Verschieben Sie sie in einen Ordner, in den Sie schreiben dürfen.',
    notStarted: 'Die Installation startet nicht: {detail}',
    installerEnded:
      'Die Installation endete, ohne etwas zu installieren (Exit-Code {detail}). Falls Windows um Zustimmung bat, hat sie niemand gegeben. Versuchen Sie es erneut, oder lassen Sie sich die Datei zeigen und öffnen Sie sie selbst.',
    installerHangs:
      'Die Installation hat seit 15 Minuten nichts getan. Vielleicht wartet sie auf dem Bildschirm dieses Computers auf eine Antwort. Antworten Sie dort, oder versuchen Sie es erneut.',
    notAllowed:
      'Das System hat das Recht zur Installation nicht gegeben. Versuchen Sie es mit dem Passwort eines Administrators erneut, oder verwenden Sie den Befehl unten.',
    packageFailed:
      'apt konnte die Aktualisierung nicht installieren: {detail}. Der Befehl unten zeigt den ganzen Grund.',
    notInstalled: 'Version {detail} wurde nicht installiert: Es läuft noch die vorige. Installieren Sie sie von Hand.',
  },
}
