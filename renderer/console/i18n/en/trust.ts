/** The page with the certificate to trust. */
export const trust = {
  title: 'Trust this site on your device',
  purpose: 'Browsers then show no warning and allow camera and microphone in rooms.',
  none: 'This site has no certificate: it uses plain HTTP. An admin can set one under Settings › Network.',
  get: 'Get the certificate',
  download: 'Download roomdesk.crt',
  compare:
    'Compare the fingerprint with the one that an admin reads under Settings › Network, on another device if possible.',
  names: {
    windows: 'Windows',
    macos: 'macOS',
    ios: 'iPhone and iPad',
    android: 'Android',
    firefox: 'Firefox (any system)',
  },
  steps: {
    windows:
      'Open roomdesk.crt › Install Certificate › Current User › Place all certificates in the following store › Trusted Root Certification Authorities. Restart the browser.',
    macos:
      'Open roomdesk.crt: Keychain Access adds it to the login keychain. Double-click it there › Trust › When using this certificate: Always Trust.',
    ios: 'Open this page in Safari and download the certificate. Settings › Profile Downloaded › Install. Then Settings › General › About › Certificate Trust Settings: switch it on.',
    android:
      'Settings › Security › Encryption & credentials › Install a certificate › CA certificate › choose roomdesk.crt.',
    firefox:
      'Settings › Privacy & Security › Certificates › View Certificates › Authorities › Import: choose roomdesk.crt, tick “Trust this CA to identify websites”.',
  },
  fingerprint: 'Authority to trust (SHA-256)',
  link: 'Trust it on a device…',
  back: 'To the console',
} as const
