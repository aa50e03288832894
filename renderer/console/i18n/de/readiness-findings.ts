import type { findingTexts as english } from '../../../../shared/console/readiness-findings.ts'
import type { Texts } from '../text.ts'

const none = ''
const tryPhone = 'Den Code dieser Seite mit einem Telefon scannen: Kommt die Anfrage an, blockiert nichts.'
const runAgain = 'Erneut prüfen. Bleibt es so, die Diagnose speichern und melden.'

/** Sentences of the findings of readiness checks. */
export const readinessFindings: Texts<typeof english> = {
  portsReachable: { message: 'Alle {count} Ports lauschen und antworten unter {address}.', advice: none },
  portsLocal: { message: 'Alle {count} Ports lauschen, nur für diesen Rechner.', advice: none },
  portsDown: {
    message: 'Lauscht nicht: {ports}. {reason}',
    advice: 'Unter Einstellungen, Netzwerk einen freien Port wählen oder das Programm beenden, das ihn belegt.',
  },
  portsSilent: {
    message: 'Diese Ports lauschen, antworten aber unter {address} nicht: {ports}.',
    advice: 'Unter Einstellungen, Netzwerk die Listener neu starten. Ein Sicherheitsprogramm kann sie blockieren.',
  },
  portsNoNetwork: {
    message: 'Die Ports lauschen, aber dieser Rechner hat keine Adresse in einem Netz.',
    advice: 'Mit dem Netz verbinden, dann erneut prüfen.',
  },
  phoneArrived: {
    message: 'Ein Gerät mit {client} hat die Seite geöffnet: Der Rechner ist erreichbar.',
    advice: none,
  },
  phoneWaiting: {
    message: 'Noch kein anderes Gerät hat die Seite geöffnet.',
    advice: 'Den Code mit einem Telefon im selben Netz scannen.',
  },
  phoneLocal: {
    message: 'Die Ports lauschen nur für diesen Rechner: Telefone können sich nicht verbinden.',
    advice:
      'Sollen andere mit eigenen Geräten teilnehmen, unter Einstellungen, Netzwerk die Adresse 0.0.0.0 eintragen.',
  },
  phoneNoNetwork: {
    message: 'Dieser Rechner hat keine Adresse in einem Netz.',
    advice: 'Mit dem Netz verbinden, dann erneut prüfen.',
  },
  phoneNoPage: { message: 'Kein Medienknoten dieses Rechners zeigt Seiten.', advice: none },
  firewallNone: { message: 'Keine aktive Firewall gefunden.', advice: none },
  firewallPasses: { message: 'Ein Gerät mit {client} kam durch: Keine Firewall blockiert es.', advice: none },
  firewallAllows: { message: '{name} ist aktiv und erlaubt Roomdesk.', advice: none },
  firewallLocal: {
    message: 'Keine Firewall spielt eine Rolle: Die Ports lauschen nur für diesen Rechner.',
    advice: none,
  },
  firewallActive: {
    message: '{name} ist aktiv. Die Regeln sind nur mit Administratorrechten lesbar.',
    advice: 'Können sich Telefone nicht verbinden, diese Ports erlauben: {ports}.',
  },
  firewallBlocks: {
    message: '{name} blockiert Roomdesk.',
    advice: 'Roomdesk in den Einstellungen von {name} für private Netze erlauben.',
  },
  firewallUnknown: { message: 'Dieses System sagt nicht, ob eine Firewall aktiv ist.', advice: tryPhone },
  encryptionOn: { message: 'Alle Ports sprechen TLS.', advice: none },
  encryptionLocal: { message: 'Die Ports sprechen unverschlüsseltes HTTP, nur für diesen Rechner.', advice: none },
  encryptionProxy: { message: 'Die Ports sprechen unverschlüsseltes HTTP; Personen kommen über {url}.', advice: none },
  encryptionOff: {
    message:
      'Unverschlüsseltes HTTP ist im Netz offen ({ports}): Andere können Passwörter und Token lesen, und Personen an anderen Geräten haben weder Kamera noch Mikrofon.',
    advice: 'Unter Einstellungen, Netzwerk ein Zertifikat wählen.',
  },
  ffmpegWhole: { message: 'ffmpeg {version} wandelt Bilder ({encoder}) und Ton (Opus) um.', advice: none },
  ffmpegPart: {
    message: 'ffmpeg {version} fehlt ein Encoder: {missing}. Kameras, die ihn brauchen, bleiben ohne.',
    advice: 'ffmpeg mit libx264 und libopus installieren, dann Roomdesk neu starten.',
  },
  ffmpegMissing: {
    message: 'ffmpeg wurde nicht gefunden. Kameras mit H.265 oder AAC zeigen im Browser kein Bild oder keinen Ton.',
    advice:
      'ffmpeg installieren: apt install ffmpeg, winget install ffmpeg oder brew install ffmpeg. Kein Neustart nötig.',
  },
  ffmpegBroken: {
    message: 'ffmpeg ist nicht benutzbar: {reason}',
    advice: 'Neu installieren oder mit --ffmpeg ein anderes angeben.',
  },
  keyKeychain: { message: 'Der Schlüsselbund dieser Sitzung schützt den Schlüssel ({backend}).', advice: none },
  keyFile: { message: 'Der Schlüssel liegt in einer Datei, die nur dieser Benutzer lesen kann.', advice: none },
  keyOpen: {
    message: 'Andere auf diesem Rechner können den Schlüssel lesen (Rechte {mode}).',
    advice: 'Die Datei für andere schließen: chmod 600 {file}',
  },
  keyPlain: {
    message:
      'Kein Schlüsselbund schützt den Schlüssel ({backend}): Er liegt in einer Datei, die nur dieser Benutzer lesen kann.',
    advice: 'Einen Schlüsselbund (GNOME Keyring oder KWallet) installieren und entsperren, dann Roomdesk neu starten.',
  },
  diskFast: {
    message: 'Ein dauerhafter Schreibvorgang braucht {median_ms}, höchstens {worst_ms} ({count} Vorgänge).',
    advice: none,
  },
  diskSlow: {
    message:
      'Ein dauerhafter Schreibvorgang braucht {median_ms}, höchstens {worst_ms} ({count} Vorgänge). Änderungen und Aufzeichnungen warten darauf.',
    advice: 'Den Datenordner auf eine SSD und weg von Netzlaufwerken legen.',
  },
  diskRefused: {
    message: 'Der Datenordner ist nicht beschreibbar: {reason}',
    advice: 'Rechte des Ordners, Kontingent und freien Platz prüfen.',
  },
  spaceEnough: { message: '{free_bytes} von {total_bytes} sind frei.', advice: none },
  spaceLow: {
    message: 'Nur {free_bytes} von {total_bytes} sind in {folder} frei.',
    advice: 'Unnötiges löschen oder Aufzeichnungen kürzer aufbewahren.',
  },
  clockSynchronised: { message: 'Die Uhr dieses Rechners ist synchronisiert.', advice: none },
  clockFree: {
    message: 'Die Uhr dieses Rechners ist nicht synchronisiert. Ereignisse, Termine und Links können abweichen.',
    advice: 'Netzwerkzeit einschalten: {command}',
  },
  clockUnknown: {
    message: 'Dieses System sagt nicht, ob seine Uhr synchronisiert ist.',
    advice: 'Mit einer verlässlichen Uhr vergleichen.',
  },
  cameraClocksAgree: {
    message: 'Jede Kamera, die ihre Uhr nennt, stimmt mit diesem Computer überein ({count}).',
    advice: none,
  },
  cameraClocksNone: { message: 'Keine Kamera ist einem Raum beigetreten.', advice: none },
  cameraClocksDiffer: {
    message:
      'Kameras mit anderer Zeit als dieser Computer: {count} (h:mm:ss: {cameras}). Zeiten in ihren Bildern passen nicht zu Aufzeichnungen und Ereignissen.',
    advice:
      'Netzwerkzeit (NTP) und Zeitzone in den Einstellungen jeder Kamera einstellen. Weichen alle ab, die Uhr dieses Computers richtig stellen.',
  },
  cameraClocksUnknown: {
    message: 'Keine Kamera nennt ihre Uhr. Kameras nennen sie eingebetteten Knoten in Sender-Berichten von RTP.',
    advice: 'Die Zeit in ihren Bildern mit einer verlässlichen Uhr vergleichen.',
  },
  trayShown: { message: 'Dieser Desktop zeigt das Symbol.', advice: none },
  trayMissing: {
    message:
      'Dieser Desktop zeigt keine Symbole: Ein geschlossenes Fenster öffnet sich, wenn Roomdesk erneut gestartet wird.',
    advice: 'Unter GNOME die Erweiterung AppIndicator Support installieren.',
  },
  trayUnknown: {
    message: 'Dieser Desktop sagt nicht, ob er Symbole zeigt.',
    advice: 'In der Leiste nach dem Symbol von Roomdesk suchen.',
  },
  sandboxOn: { message: 'Seiten laufen in einer Sandbox.', advice: none },
  sandboxOff: {
    message: 'Seiten laufen ohne Sandbox.',
    advice: 'Roomdesk aus dem installierten Paket und nicht als root starten.',
  },
  wallsPlaced: { message: 'Videowände öffnen sich auf den Bildschirmen, für die sie gewählt wurden.', advice: none },
  wallsUnplaced: {
    message: 'Diese Sitzung benutzt Wayland: Dort wählt der Desktop den Bildschirm jeder Videowand, nicht Roomdesk.',
    advice: 'Roomdesk beenden und mit roomdesk --ozone-platform=x11 starten.',
  },
  powerAwake: { message: 'Der Rechner bleibt wach, solange Räume benutzt werden.', advice: none },
  powerBattery: {
    message: 'Der Rechner läuft mit Akku.',
    advice: 'Ans Netz anschließen: Ein leerer Akku beendet alle Besprechungen und Aufzeichnungen.',
  },
  powerSleeps: {
    message:
      'Der Rechner kann einschlafen, während Räume benutzt werden; das beendet alle Besprechungen und Aufzeichnungen.',
    advice: 'Im Menü Datei „Computer wach halten, solange Räume belegt sind“ wählen.',
  },
  powerIdleSleeps: {
    message: 'Der Rechner schläft ein, wenn {minutes} min lang kein Raum benutzt wird; dann kann niemand beitreten.',
    advice: 'Den Ruhezustand in den Energieeinstellungen des Systems ausschalten.',
  },
  powerUnknown: {
    message: 'Der Rechner bleibt wach, solange Räume benutzt werden. Ob er sonst einschläft, sagt das System nicht.',
    advice: 'Die Energieeinstellungen des Systems prüfen: Solange er schläft, kann niemand beitreten.',
  },
  checkTimedOut: { message: 'Keine Antwort innerhalb von {seconds} s.', advice: runAgain },
  checkFailed: { message: 'Die Prüfung ist fehlgeschlagen: {reason}', advice: runAgain },
}
