import type { Texts } from '../text.ts'
import type { trust as english } from '../en/trust.ts'

export const trust: Texts<typeof english> = {
  title: 'Dieser Anlage auf Ihrem Gerät vertrauen',
  purpose: 'Browser zeigen dann keine Warnung und erlauben in Räumen Kamera und Mikrofon.',
  none: 'Diese Anlage hat kein Zertifikat: Sie verwendet unverschlüsseltes HTTP. Ein Admin kann unter Einstellungen › Netzwerk eines einrichten.',
  get: 'Zertifikat holen',
  download: 'roomdesk.crt herunterladen',
  compare:
    'Vergleichen Sie den Fingerabdruck mit dem, den ein Admin unter Einstellungen › Netzwerk liest, möglichst auf einem anderen Gerät.',
  names: {
    windows: 'Windows',
    macos: 'macOS',
    ios: 'iPhone und iPad',
    android: 'Android',
    firefox: 'Firefox (jedes System)',
  },
  steps: {
    windows:
      'roomdesk.crt öffnen › Zertifikat installieren › Aktueller Benutzer › Alle Zertifikate in folgendem Speicher speichern › Vertrauenswürdige Stammzertifizierungsstellen. Starten Sie den Browser neu.',
    macos:
      'roomdesk.crt öffnen: Die Schlüsselbundverwaltung fügt es dem Anmelde-Schlüsselbund hinzu. Doppelklicken Sie dort darauf › Vertrauen › Bei Verwendung dieses Zertifikats: Immer vertrauen.',
    ios: 'Öffnen Sie diese Seite in Safari und laden Sie das Zertifikat. Einstellungen › Profil geladen › Installieren. Dann Einstellungen › Allgemein › Info › Zertifikatsvertrauenseinstellungen: einschalten.',
    android:
      'Einstellungen › Sicherheit › Verschlüsselung und Anmeldedaten › Ein Zertifikat installieren › CA-Zertifikat › roomdesk.crt wählen.',
    firefox:
      'Einstellungen › Datenschutz & Sicherheit › Zertifikate › Zertifikate anzeigen › Zertifizierungsstellen › Importieren: roomdesk.crt wählen, „Dieser CA vertrauen, um Websites zu identifizieren“ ankreuzen.',
  },
  fingerprint: 'Zertifizierungsstelle (SHA-256)',
  link: 'Auf einem Gerät vertrauen…',
  back: 'Zur Konsole',
}
