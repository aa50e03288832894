import type { SettingTexts } from '../../../../shared/settings.ts'

/** Label and hint of each setting that a card shows. */
export const settingTexts: SettingTexts = {
  listeners: {
    host: { label: 'Bindeadresse', hint: '127.0.0.1: nur dieser Computer. 0.0.0.0: jedes Netz, in dem er ist.' },
    link_address: {
      label: 'Adresse in Links',
      hint: 'Bei 0.0.0.0 und mehreren Netzen: die IPv4-Adresse dieses Rechners, die Teilnahmelinks nennen. Leer: die erste.',
    },
    media_port: { label: 'Medienraum-API', hint: '' },
    device_port: { label: 'API für externe Geräte', hint: '' },
    node_port: { label: 'Medienknoten', hint: '' },
    console_port: { label: 'Konsole', hint: '' },
    serve_console: { label: 'Konsole für Browser bereitstellen', hint: '' },
    event_port: {
      label: 'Ereignisse von Janus-Knoten',
      hint: 'Janus-Knoten melden hier, wer kommt und geht. Leer: aus, sie werden alle paar Sekunden abgefragt. Installieren Sie nach einer Änderung ihre Konfigurationsdateien neu.',
    },
  },
  tls: {
    mode: {
      label: 'Zertifikat',
      hint: 'Ein selbstsigniertes Zertifikat wird hier erstellt; Clients müssen ihm vertrauen.',
    },
    cert_file: {
      label: 'Zertifikatsdatei',
      hint: 'PEM, mit der Kette nach dem Zertifikat; ein Pfad auf dem Computer des Controllers.',
    },
    key_file: { label: 'Schlüsseldatei', hint: 'PEM, ohne Passphrase.' },
  },
  access: {
    digest_forms: {
      label: 'Zulässige Formen des Digests',
      hint: 'Der Token einer Sitzung hat dieselbe Form wie ihr Digest.',
    },
    token_idle_ms: { label: 'Sitzung endet ohne Nutzung nach', hint: '' },
    token_life_ms: { label: 'Längste Dauer einer Sitzung', hint: '' },
    failures_per_minute: {
      label: 'Fehlgeschlagene Anmeldungen pro Minute und Adresse',
      hint: 'Darüber wird die Adresse bis zum Ende der Minute abgewiesen; 0 = unbegrenzt.',
    },
  },
  cors_origins: {
    label: 'Ursprünge (Origins)',
    hint: 'Einer pro Zeile, z. B. https://portal.example.org; * erlaubt jeden.',
  },
  room_defaults: {
    attendee_max: { label: 'Max. Teilnehmende', hint: '' },
    max_video: { label: 'Max. Videostreams', hint: '' },
    max_audio: { label: 'Max. Audiostreams', hint: '' },
  },
  deadlines: {
    store_ms: { label: 'Festplatte', hint: 'Danach erhält eine Änderung 700, eine Anmeldung 504.' },
    node_ms: { label: 'Antwort eines MCU-Knotens', hint: 'Danach 409. Öffentliche Clients geben nach 5 s auf.' },
    device_ms: {
      label: 'Erstes Paket eines Geräts',
      hint: 'Danach erhält das Anlegen eines ausgehenden Benutzers 427.',
    },
    health_ms: { label: 'Prüfung eines Knotens', hint: '' },
    health_interval_ms: { label: 'Abstand der Prüfungen', hint: '' },
    shutdown_ms: {
      label: 'Laufende Anfragen beim Beenden',
      hint: 'Wenn der Controller beendet wird oder sich die Adresse eines Listeners ändert.',
    },
  },
  devices: {
    reconnect_first_ms: { label: 'Erste Wartezeit', hint: '' },
    reconnect_longest_ms: { label: 'Längste Wartezeit', hint: '' },
    reconnect_steady_ms: {
      label: 'Gilt als stabil nach',
      hint: 'Ein Gerät, das früher wieder ausfällt, wartet jedes Mal länger.',
    },
  },
  media: {
    ice_servers: { label: 'STUN- und TURN-Server', hint: 'Browser erhalten sie, um durch Firewalls zu kommen.' },
    advertised: {
      label: 'Adressen für Browser',
      hint: 'IP-Adressen, eine pro Zeile, wenn die eigenen des Computers nicht erreichbar sind (NAT). Wenn leer: die eigenen.',
    },
    ban_ms: { label: 'Entfernte Personen werden abgewiesen für', hint: '' },
    resume_ms: { label: 'Nach Verbindungsverlust ist Rückkehr möglich für', hint: '' },
    trust_any_certificate: {
      label: 'Jedem Kamerazertifikat vertrauen (RTSPS)',
      hint: 'Die meisten Kameras haben ein Zertifikat, das keine Zertifizierungsstelle signiert hat.',
    },
    camera_transport: { label: 'Transport', hint: '' },
    camera_networks: {
      label: 'Zugelassene Kameranetze',
      hint: 'IP-Adressen oder Netze, eines pro Zeile, z. B. 192.168.10.0/24. Wenn leer: alle.',
    },
    camera_answer_ms: { label: 'Antwortfrist einer Kamera', hint: '' },
    camera_stall_ms: { label: 'Kamera neu verbinden, wenn sie nichts sendet seit', hint: '' },
    publish_bitrate: { label: 'Max. Bitrate der Kamera einer Person', hint: '' },
    transcoders: {
      label: 'Max. gleichzeitig umgewandelte Kameras',
      hint: 'H.265, Motion JPEG und Ähnliches wandelt ffmpeg um, falls installiert, solange jemand zusieht; jede braucht bis zu einem halben CPU-Kern. Nur Ton: achtmal so viele. 0 = nie.',
    },
    screen_bitrate: { label: 'Max. Bitrate eines geteilten Bildschirms', hint: '' },
    most_tiles: {
      label: 'Gleichzeitig gezeigte Personen',
      hint: 'Sind es mehr, werden die letzten Sprecher gezeigt; die anderen sind aufgelistet und zu hören.',
    },
    udp_port: {
      label: 'UDP-Port von WebRTC',
      hint: '0: dieselbe Nummer wie der Port des Medienknotens. Eine Änderung startet den Knoten neu: Personen verbinden sich automatisch wieder.',
    },
    public_url: {
      label: 'Öffentliche Adresse der Einladungslinks',
      hint: 'Der Teil vor /jroom/, z. B. https://rooms.example.org. Wenn leer: die Adresse der Medien-API.',
    },
    open_rooms: {
      label: 'Alle, die die Nummer eines Raums kennen, können beitreten',
      hint: 'Ohne Einladungslink; nur ein Name wird erfragt. Jeder Raum kann davon abweichen; einem gesperrten oder geschlossenen Raum kann niemand beitreten.',
    },
    link_life_ms: {
      label: 'Links laufen ab nach',
      hint: 'Wenn beim Erstellen des Links nichts anderes angegeben ist.',
    },
  },
  compatibility: {
    older_clients: {
      label: 'Älteren Clients antworten',
      hint: 'Sie funktionieren unverändert, bis auf den Beitritt zu einem Raum. Andere sehen nur zusätzliche Felder und Pfade.',
    },
    get_access_token: {
      label: 'Ihnen für einen Secret Key in der URL einen Token geben (getAccessToken)',
      hint: 'Wirkt nur, solange älteren Clients geantwortet wird.',
    },
  },
  events: {
    days: { label: 'Tage', hint: '' },
    megabytes: { label: 'Megabytes', hint: '200 MB fassen etwa eine halbe Million Ereignisse.' },
  },
  backups: {
    count: { label: 'Anzahl', hint: '' },
    days: { label: 'Tage', hint: '0 = unbegrenzt.' },
  },
  pictures: {
    every_minutes: { label: 'Abstand (Minuten)', hint: '0 = aus. Nur Kameras auf eingebauten Knoten.' },
    per_camera: { label: 'Bilder pro Kamera', hint: 'Die ältesten werden gelöscht.' },
    megabytes: {
      label: 'Speicherplatz (MB)',
      hint: 'Für alle Kameras zusammen; die ältesten werden gelöscht. Ein Bild braucht 50 bis 300 kB.',
    },
    days: { label: 'Tage', hint: '' },
  },
  recording: {
    rooms: { label: 'Räume', hint: '' },
    cameras: { label: 'Kameras', hint: '' },
    retention: { label: 'Aufbewahrung', hint: '' },
    gigabytes: { label: 'Gigabyte für alle Aufzeichnungen', hint: '0: keine Grenze außer dem freien Platz.' },
    free_gigabytes: {
      label: 'Gigabyte, die frei bleiben',
      hint: 'Die Aufzeichnung endet, bevor der Datenträger voller ist; der größere der beiden Werte gilt.',
    },
    free_percent: { label: 'Prozent des Datenträgers, die frei bleiben', hint: '' },
    viewers: {
      label: 'Aufzeichnungen, die Betrachter sehen dürfen',
      hint: 'Operatoren und Admins sehen alle Aufzeichnungen.',
    },
    hosts: {
      label: 'Gastgeber dürfen ihren Raum aufzeichnen',
      hint: 'Eine Schaltfläche im Raum; wer gestartet hat, steht in den Ereignissen.',
    },
    announce: {
      label: 'Einmal laut sagen, dass ein Raum aufgezeichnet wird',
      hint: 'Der Hinweis auf dem Bildschirm erscheint in jedem Fall.',
    },
  },
  object_storage: {
    enabled: {
      label: 'Fertige Segmente hochladen',
      hint: 'Aus: Hochgeladenes bleibt abspielbar und wird mit seiner Aufbewahrung gelöscht.',
    },
    endpoint: { label: 'Adresse', hint: 'Ohne den Bucket, z. B. https://s3.eu-central-1.amazonaws.com.' },
    region: { label: 'Region', hint: 'Viele Dienste nehmen jede.' },
    bucket: { label: 'Bucket', hint: 'Er muss vorhanden sein.' },
    prefix: { label: 'Präfix', hint: 'Steht vor dem Namen jedes Objekts, z. B. roomdesk/. Leer: keines.' },
    access_key_id: { label: 'Schlüssel-ID', hint: '' },
    secret_access_key: { label: 'Geheimer Schlüssel', hint: 'Wird versiegelt gespeichert und nie angezeigt.' },
    path_style: { label: 'Bucket im Pfad', hint: 'Aus: Der Bucket ist Teil des Hostnamens.' },
    ca_file: {
      label: 'Zertifizierungsstellen',
      hint: 'PEM-Datei auf dem Rechner von Roomdesk, für ein Zertifikat einer eigenen Zertifizierungsstelle. Leer: nur die bekannten.',
    },
    networks: {
      label: 'Zugelassene Netze',
      hint: 'Eine IP-Adresse oder ein Netz je Zeile, z. B. 192.0.2.0/24. Leer: alle, außer dieser Rechner, Link-Local-Adressen und Metadatendienste.',
    },
    keep_local_hours: {
      label: 'Stunden zugleich auf dem Datenträger',
      hint: 'Ein hochgeladenes Segment verlässt den Datenträger nach dieser Zeit, oder früher, wenn dieser Platz braucht.',
    },
  },
  trash: {
    days: {
      label: 'Tage',
      hint: '0 = aus: Gelöschtes kann nicht wiederhergestellt werden. Gilt für späteres Löschen.',
    },
  },
  live: {
    embed_origins: {
      label: 'Seiten, die den Player einbetten dürfen',
      hint: 'Ursprünge, einer je Zeile, z. B. https://intranet.example.org. Leer: nur diese Site.',
    },
    push_networks: {
      label: 'Zugelassene RTMP-Netze',
      hint: 'IP-Adressen oder Netze, je Zeile eines, z. B. 192.0.2.0/24. Leer: alle, außer dieser Rechner, Link-Local-Adressen und Metadatendienste.',
    },
    push_ca_file: {
      label: 'Zertifizierungsstellen für RTMP',
      hint: 'PEM-Datei auf dem Rechner von Roomdesk, für rtmps:// mit einem Zertifikat einer eigenen Zertifizierungsstelle. Leer: nur die bekannten.',
    },
  },
  console: {
    language: { label: 'Sprache', hint: '' },
    theme: { label: 'Design', hint: '' },
    metrics_token: {
      label: 'Zugriffstoken verlangen',
      hint: 'Sonst kann sie jeder lesen, der den Konsolenport erreicht.',
    },
    thumbnails: {
      label: 'Kleine Bilder in Listen',
      hint: 'Von verbundenen Kameras, jede Minute erneuert. Nur in dem Browser gespeichert, der die Liste zeigt.',
    },
    viewers_watch: {
      label: 'Betrachter dürfen Besprechungen ansehen',
      hint: 'Personen sehen nicht, dass sie angesehen werden. Aus: nur Operatoren und Admins. Kameras können Betrachter immer ansehen.',
    },
    activity_entries: {
      label: 'Anfragen im Protokoll',
      hint: '5.000 brauchen etwa 5 MB. Die ältesten werden zuerst verworfen.',
    },
  },
}
