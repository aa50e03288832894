import type { Texts } from '../text.ts'
import type { settings as english } from '../en/settings.ts'
import { pictures } from './pictures.ts'
import { recording } from './recording.ts'

/** Hints below the settings. */
export const hints: Texts<(typeof english)['hints']> = {
  cors_origins: 'Einer pro Zeile, z. B. https://portal.example.org; * erlaubt jeden.',
  compatibility: {
    older_clients:
      'Sie funktionieren unverändert, bis auf den Beitritt zu einem Raum. Andere sehen nur zusätzliche Felder und Pfade.',
    get_access_token: 'Wirkt nur, solange älteren Clients geantwortet wird.',
  },
  listeners: {
    host: '127.0.0.1: nur dieser Computer. 0.0.0.0: jedes Netz, in dem er ist.',
    link_address:
      'Bei 0.0.0.0 und mehreren Netzen: die IPv4-Adresse dieses Rechners, die Teilnahmelinks nennen. Leer: die erste.',
    media_port: '',
    device_port: '',
    node_port: '',
    console_port: '',
    serve_console: '',
    event_port:
      'Janus-Knoten melden hier, wer kommt und geht. Leer: aus, sie werden alle paar Sekunden abgefragt. Installieren Sie nach einer Änderung ihre Konfigurationsdateien neu.',
  },
  tls: {
    mode: 'Ein selbstsigniertes Zertifikat wird hier erstellt; Clients müssen ihm vertrauen.',
    cert_file: 'PEM, mit der Kette nach dem Zertifikat; ein Pfad auf dem Computer des Controllers.',
    key_file: 'PEM, ohne Passphrase.',
  },
  access: {
    digest_forms: 'Der Token einer Sitzung hat dieselbe Form wie ihr Digest.',
    token_idle_ms: '',
    token_life_ms: '',
    failures_per_minute: 'Darüber wird die Adresse bis zum Ende der Minute abgewiesen; 0 = unbegrenzt.',
  },
  media: {
    public_url: 'Der Teil vor /jroom/, z. B. https://rooms.example.org. Wenn leer: die Adresse der Medien-API.',
    link_life_ms: 'Wenn beim Erstellen des Links nichts anderes angegeben ist.',
    open_rooms:
      'Ohne Einladungslink; nur ein Name wird erfragt. Jeder Raum kann davon abweichen; einem gesperrten oder geschlossenen Raum kann niemand beitreten.',
    udp_port:
      '0: dieselbe Nummer wie der Port des Medienknotens. Eine Änderung startet den Knoten neu: Personen verbinden sich automatisch wieder.',
    advertised:
      'IP-Adressen, eine pro Zeile, wenn die eigenen des Computers nicht erreichbar sind (NAT). Wenn leer: die eigenen.',
    ice_servers: 'Browser erhalten sie, um durch Firewalls zu kommen.',
    camera_transport: '',
    camera_networks: 'IP-Adressen oder Netze, eines pro Zeile, z. B. 192.168.10.0/24. Wenn leer: alle.',
    trust_any_certificate: 'Die meisten Kameras haben ein Zertifikat, das keine Zertifizierungsstelle signiert hat.',
    camera_answer_ms: '',
    camera_stall_ms: '',
    most_tiles: 'Sind es mehr, werden die letzten Sprecher gezeigt; die anderen sind aufgelistet und zu hören.',
    transcoders:
      'H.265, Motion JPEG und Ähnliches wandelt ffmpeg um, falls installiert, solange jemand zusieht; jede braucht bis zu einem halben CPU-Kern. Nur Ton: achtmal so viele. 0 = nie.',
    publish_bitrate: '',
    screen_bitrate: '',
    ban_ms: '',
    resume_ms: '',
  },
  room_defaults: { attendee_max: '', max_video: '', max_audio: '' },
  devices: {
    reconnect_first_ms: '',
    reconnect_longest_ms: '',
    reconnect_steady_ms: 'Ein Gerät, das früher wieder ausfällt, wartet jedes Mal länger.',
  },
  deadlines: {
    store_ms: 'Danach erhält eine Änderung 700, eine Anmeldung 504.',
    node_ms: 'Danach 409. Öffentliche Clients geben nach 5 s auf.',
    device_ms: 'Danach erhält das Anlegen eines ausgehenden Benutzers 427.',
    health_ms: '',
    health_interval_ms: '',
    shutdown_ms: 'Wenn der Controller beendet wird oder sich die Adresse eines Listeners ändert.',
  },
  console: {
    language: '',
    theme: '',
    thumbnails: 'Von verbundenen Kameras, jede Minute erneuert. Nur in dem Browser gespeichert, der die Liste zeigt.',
    viewers_watch:
      'Personen sehen nicht, dass sie angesehen werden. Aus: nur Operatoren und Admins. Kameras können Betrachter immer ansehen.',
    activity_entries: '5.000 brauchen etwa 5 MB. Die ältesten werden zuerst verworfen.',
    metrics_token: 'Sonst kann sie jeder lesen, der den Konsolenport erreicht.',
  },
  events: { days: '', megabytes: '200 MB fassen etwa eine halbe Million Ereignisse.' },
  backups: { count: '', days: '0 = unbegrenzt.' },
  pictures: pictures.hints,
  live: {
    embed_origins: 'Ursprünge, einer je Zeile, z. B. https://intranet.example.org. Leer: nur diese Site.',
    push_networks:
      'IP-Adressen oder Netze, je Zeile eines, z. B. 192.0.2.0/24. Leer: alle, außer dieser Rechner, Link-Local-Adressen und Metadatendienste.',
    push_ca_file:
      'PEM-Datei auf dem Rechner von Roomdesk, für rtmps:// mit einem Zertifikat einer eigenen Zertifizierungsstelle. Leer: nur die bekannten.',
  },
  ...recording.settings.hints,
  trash: { days: '0 = aus: Gelöschtes kann nicht wiederhergestellt werden. Gilt für späteres Löschen.' },
}
