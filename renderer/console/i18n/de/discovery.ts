import type { discovery as english } from '../en/discovery.ts'
import type { Texts } from '../text.ts'

/** Suche nach Kameras im Netz. */
export const discovery: Texts<typeof english> = {
  ways: 'Weg zur Kamera',
  byAddress: 'Adresse eingeben',
  bySearch: 'Im Netz suchen',
  searching: 'Kameras im Netz werden gesucht…',
  found: '{count} gefunden',
  again: 'Erneut suchen',
  use: 'Verwenden',
  added: 'Hinzugefügt',
  none: 'In den Netzen von {addresses} hat keine Kamera geantwortet.',
  blocked:
    'Dieser Controller konnte kein Netz durchsuchen: Er hat keine Adresse in einem Netz, oder seine Firewall weist Multicast ab (UDP 3702).',
  outside:
    'Kameras haben von außerhalb der zugelassenen Kameranetze geantwortet: {hosts}. Tragen Sie ihr Netz unter Einstellungen, Medien ein; sonst sind sie nicht verwendbar.',
  settings: 'Zugelassene Kameranetze',
  mendOnvif: 'Schalten Sie ONVIF und WS-Discovery (Multicast) in den Einstellungen der Kamera ein.',
  mendNetwork: 'Die Suche endet am Router: Für eine Kamera in einem anderen Netz oder VLAN geben Sie ihre Adresse ein.',
  mendMulticast: 'WLAN, Switches und Firewalls können Multicast verwerfen (UDP 3702, Gruppe 239.255.255.250).',
  asking: '{name} wird nach ihren Streams gefragt…',
  login: 'Die Kamera verlangt eine Anmeldung.',
  wrongLogin: 'Die Kamera weist diese Anmeldedaten ab. Prüfen Sie Name und Passwort.',
  noStreams: 'Die Kamera hat ihre Adresse nicht genannt. Geben Sie sie laut Handbuch ein.',
  gone: 'Die Kamera antwortet nicht mehr. Suchen Sie erneut.',
  sameLogin: 'Anmeldung von {name} verwenden',
  askStreams: 'Nach Streams fragen',
  other: 'Andere wählen',
  stream: 'Stream',
  unnamedSize: 'Größe nicht genannt',
}
