import type { Texts } from '../text.ts'
import type { nodes as english } from '../en/nodes.ts'

export const nodes: Texts<typeof english> = {
  title: 'MCU-Knoten',
  purpose: 'Medienserver der Räume, ihr Zustand und ihre Last.',
  add: 'Knoten hinzufügen',
  search: 'Knoten suchen',
  empty: 'Kein MCU-Knoten',
  emptyBody:
    'Ohne Knoten erhalten Clients, die nach einer MCU fragen, 410. Der eingebaute Knoten ist mit einem Klick hinzugefügt.',
  states: {
    online: 'Online',
    offline: 'Offline',
    draining: 'Wird geleert',
    disabled: 'Deaktiviert',
    connecting: 'Verbindet',
  },
  kinds: {
    embedded: 'Eingebaut',
    simulated: 'Simuliert',
    janus: 'Janus',
    another: 'Eingebaut',
  },
  kindHint: {
    embedded: 'Läuft auf diesem Computer, vom Controller gestartet. Sofort bereit für Räume.',
    simulated:
      'Für Tests: Er verhält sich wie ein Knoten, überträgt aber keine Medien. Hat die Anlage echte Knoten, bedient er nur Laborräume.',
    janus:
      'Ihr eigener Janus-Server (1.1 oder neuer). Laden Sie nach dem Hinzufügen hier seine Konfigurationsdateien herunter und installieren Sie sie auf ihm.',
    another:
      'Ein weiterer Prozess auf diesem Computer mit eigenem Port: Neue Räume werden auf alle Knoten verteilt, und fällt einer aus, laufen die anderen weiter.',
    enough:
      '{n} Knoten genügt für die {cores} Kerne dieses Computers; weitere würden sich die Kerne teilen. | {n} Knoten genügen für die {cores} Kerne dieses Computers; weitere würden sich die Kerne teilen.',
  },
  columns: {
    name: 'Knoten',
    kind: 'Art',
    state: 'Zustand',
    users: 'Teilnehmer',
    people: 'Personen',
    devices: 'Kameras',
    rooms: 'Räume',
    pulls: 'Verbindungen zu Kameras',
    addresses: 'Adressen',
    idc: 'idc_code',
    weight: 'Gewicht',
    health: 'Zustand seit · Letzter Fehler',
    actions: 'Aktionen',
  },
  fixedAddress:
    'Die Adresse {addr} ändert sich bei einem Failover nicht. Verwenden Sie eine virtuelle Adresse oder die eines Load-Balancers: Andere funktionieren nach einem Failover nicht mehr. Wenn Sie sie entfernen, ist jeder Controller unter seiner eigenen Adresse erreichbar.',
  fields: {
    name: 'Name',
    nameHint: 'Er kann später nicht geändert werden.',
    port: 'Port',
    portHint: 'TCP und UDP auf diesem Port, dazu UDP auf dem um 100 höheren Port für Personen, die das Netz wechseln.',
    portMoves: 'Eine Änderung des Ports startet diesen Knoten neu und trennt seine Personen.',
    kind: 'Art',
    addresses: 'Adressen für Clients',
    addressesHint:
      'Von get_mcu zurückgegeben. Ein Client, der einen ip_tag angibt, erhält die Adresse mit diesem Tag; andere erhalten die erste.',
    noAddresses: 'Keine: Die Adresse dieses Computers wird zurückgegeben.',
    noAddressesJanus: 'Keine: Host und Port der WebSocket-Adresse werden zurückgegeben.',
    tag: 'Tag',
    addr: 'host:port',
    addAddress: 'Adresse hinzufügen',
    removeAddress: 'Diese Adresse entfernen',
    idc_code: 'idc_code',
    idcHint: 'Clients, die ihn angeben, erhalten zuerst diesen Knoten.',
    weight: 'Gewicht',
    weightHint: 'Gewicht 2 nimmt doppelt so viele Benutzer auf wie Gewicht 1.',
    max_rooms: 'Max. Räume',
    max_users: 'Max. Benutzer',
    limitHint: '0 = unbegrenzt.',
    enabled: 'Nimmt Räume an',
  },
  forms: {
    addTitle: 'MCU-Knoten hinzufügen',
    editTitle: 'Knoten {name} bearbeiten',
    submit: 'Knoten hinzufügen',
    test: 'Verbindung testen',
    testing: 'Wird getestet…',
    testOk: 'Verbunden nach {time}.',
  },
  acts: {
    edit: 'Bearbeiten',
    enable: 'Aktivieren',
    disable: 'Deaktivieren',
    drain: 'Leeren',
    undrain: 'Leeren beenden',
    remove: 'Entfernen',
  },
  ask: {
    disableTitle: '{name} deaktivieren?',
    disableBody: 'Wirkt sofort. Damit Personen erst zu Ende kommen, leeren Sie ihn stattdessen.',
    loseUsers: '{n} Person wird getrennt | {n} Personen werden getrennt',
    moveUsers:
      '{n} Person wird kurz unterbrochen und auf einem anderen Knoten fortgesetzt | {n} Personen werden kurz unterbrochen und auf einem anderen Knoten fortgesetzt',
    loseRooms: '{n} Raum wechselt auf einen anderen Knoten | {n} Räume wechseln auf einen anderen Knoten',
    losePulls:
      '{n} Kamera wird von einem anderen Knoten übernommen | {n} Kameras werden von einem anderen Knoten übernommen',
    loseLast: 'Kein anderer Knoten ist online: Clients erhalten 410',
    removeTitle: '{name} entfernen?',
    drainTitle: '{name} leeren?',
    drainBody:
      'Er erhält keine neuen Räume und behält die mit Personen darin, bis sie leer sind. Niemand wird getrennt.',
  },
  told: {
    saved: 'Knoten {name} wurde gespeichert',
    added: 'Knoten {name} wurde hinzugefügt',
    enabled: 'Knoten {name} ist aktiviert',
    disabled: 'Knoten {name} ist deaktiviert',
    draining: 'Knoten {name} wird geleert',
    undrained: 'Knoten {name} nimmt wieder Räume an',
    removed: 'Knoten {name} wurde entfernt',
  },
  proposal: {
    most: 'Dieser Computer hat {cores} Kerne: {n} eingebauter Knoten gibt die höchste Kapazität. | Dieser Computer hat {cores} Kerne: {n} eingebaute Knoten geben die höchste Kapazität.',
    why: 'Jeder Knoten nutzt einen Kern; ein Kern bleibt dem Controller, damit seine APIs antworten, wenn die Knoten ausgelastet sind.',
    add: '{n} Knoten hinzufügen | {n} Knoten hinzufügen',
    decline: 'Nicht jetzt',
    askTitle: '{n} eingebauten Knoten hinzufügen? | {n} eingebaute Knoten hinzufügen?',
    askBody: 'Vorhandene Räume bleiben, wo sie sind; neue werden auf alle Knoten verteilt. Niemand wird getrennt.',
    askPorts:
      'Schützt eine Firewall diesen Computer, öffnen Sie für Personen diese Ports: {ports} (TCP und UDP), dazu UDP auf den um 100 höheren Ports.',
    progress: '{online} von {n} neuen Knoten sind online',
    done: '{n} Knoten wurde hinzugefügt und ist online | {n} Knoten wurden hinzugefügt und sind online',
  },
  panel: {
    load: 'Last',
    health: 'Zustand',
    lastError: 'Letzter Fehler',
    noError: 'keiner',
    since: '{state} seit {span}',
    unsteady:
      '{n}-mal in 10 Minuten ausgefallen: Noch {span} lang erhalten andere Knoten neue Räume zuerst. | {n}-mal in 10 Minuten ausgefallen: Noch {span} lang erhalten andere Knoten neue Räume zuerst.',
    drainLeft: 'noch {n} Raum | noch {n} Räume',
    drainPeople: '{n} Person | {n} Personen',
    drainWaits: 'Nur Kameras sind noch da: Sie wechseln, sobald ein anderer Knoten sie aufnehmen kann.',
    drainDone: 'Leer: kann deaktiviert oder entfernt werden',
    limits: 'Grenzen',
    rooms: 'Räume',
    ports: '{port} TCP und UDP, {above} UDP',
    showRooms: 'Räume anzeigen',
  },
  janus: {
    title: 'Janus-Server',
    ws_url: 'WebSocket-Adresse',
    ws_urlHint: 'ws:// oder wss://. Personen und der Controller verbinden sich damit.',
    admin_url: 'Admin-API',
    admin_urlHint: 'http:// oder https://, mit Pfad. Sie gehört in ein Netz, das nur der Controller erreicht.',
    secrets: 'Geheimnisse des Servers',
    secretsHint:
      'Für einen bereits konfigurierten Server. Was Sie leer lassen, wird beim Herunterladen der Konfigurationsdateien erzeugt.',
    api_secretHint: 'api_secret in janus.jcfg',
    admin_secretHint: 'admin_secret in janus.jcfg',
    admin_keyHint: 'admin_key von VideoRoom und Streaming',
    token_secretHint: 'token_auth_secret in janus.jcfg',
    removeSecret: 'Gespeichertes {name} entfernen',
    check: 'Sicherheit prüfen',
    testing: 'Adressen, Geheimnisse, Plugins und Zugriff durch Fremde werden geprüft: bis zu 10 s.',
    download: 'Konfigurationsdateien',
    downloadHint:
      'Die Konfigurationsdateien machen den Server zu einem sicheren Knoten dieser Anlage. Entpacken Sie sie nach /etc/janus und starten Sie Janus neu. Sie enthalten seine Geheimnisse.',
    downloaded: 'Die Konfigurationsdateien wurden heruntergeladen',
    version: 'Version',
    plugins: 'Plugins',
    events: 'Ereignisse',
    eventsArrive: 'Kommen seit {span} an',
    eventsMissing: 'Kommen seit {span} nicht an',
    eventsClosed: 'Kommen und Gehen erscheint einige Sekunden verspätet.',
    eventsOpen: 'Ereignisport öffnen',
    eventsInstall:
      'Kommen und Gehen erscheint einige Sekunden verspätet. Installieren Sie die Konfigurationsdateien auf dem Server.',
    good: 'Janus {version}, keine Probleme gefunden.',
    usable: 'Janus {version}, sicher verwendbar.',
    unsafe: 'Janus {version} ist verwendbar, aber nicht sicher.',
    unusable: 'Dieser Server ist noch nicht verwendbar.',
  },
  drift: {
    title: 'Gefundene und reparierte Abweichungen',
    none: 'Keine seit dem Start des Controllers',
    last: 'zuletzt {ago}',
    kinds: {
      roomMissing: '{n} Raum fehlte und wurde wieder geöffnet | {n} Räume fehlten und wurden wieder geöffnet',
      roomUnknown:
        '{n} Raum gehörte nicht dorthin und wurde geschlossen | {n} Räume gehörten nicht dorthin und wurden geschlossen',
      cameraMissing: '{n} Kamera fehlte und tritt wieder bei | {n} Kameras fehlten und treten wieder bei',
      cameraUnknown:
        '{n} Kamera gehörte nicht dorthin und wurde entfernt | {n} Kameras gehörten nicht dorthin und wurden entfernt',
    },
  },
  severities: { error: 'Fehler:', unsafe: 'Unsicher:', notice: 'Hinweis:' },
  reasons: {
    closed: 'der Port ist geschlossen',
    unknownName: 'der Name ist unbekannt',
    noWay: 'es gibt keinen Weg dorthin',
    late: 'keine rechtzeitige Antwort',
    notJanus: 'die Antwort ist nicht die von Janus',
    untrusted: 'sein Zertifikat ist nicht vertrauenswürdig ({code})',
    noAdminUrl: 'die Adresse der Admin API fehlt, über die Räume entstehen',
    older: 'eine ältere Version von Roomdesk hat ihn hinzugefügt: bearbeiten und speichern Sie ihn einmal',
    lost: 'die Verbindung ist abgebrochen',
  },
  findings: {
    wsUnreachable: 'Die WebSocket-Adresse antwortet nicht ({reason}): Prüfen Sie ws_url, den Port und die Firewall.',
    wsNotJanus: 'Die WebSocket-Adresse ist nicht die von Janus ({reason}): Prüfen Sie Port und Pfad von ws_url.',
    apiSecretWrong:
      'Der Knoten weist das api_secret ab: Geben Sie das aus seiner janus.jcfg ein, oder installieren Sie die Konfigurationsdateien.',
    versionOld: 'Der Knoten läuft mit Janus {version}: Installieren Sie 1.1 oder neuer.',
    pluginMissing:
      'Das Plugin {plugin} ist nicht geladen: Installieren Sie es, oder nehmen Sie es in janus.jcfg aus den deaktivierten heraus.',
    stringIdsOff: 'Räume brauchen Namen: Setzen Sie string_ids = true in {plugin}.jcfg.',
    adminUnreachable:
      'Die Admin-API antwortet nicht ({reason}): Prüfen Sie admin_url, den Port, die Firewall und admin_acl des Knotens.',
    adminNotJanus:
      'Die Adresse der Admin-API ist nicht die von Janus ({reason}): Prüfen Sie Port und Pfad von admin_url.',
    adminSecretWrong:
      'Die Admin-API weist das admin_secret ab: Geben Sie das aus janus.jcfg ein, oder installieren Sie die Konfigurationsdateien.',
    serversDiffer: 'ws_url und admin_url führen zu zwei verschiedenen Servern: Berichtigen Sie eine davon.',
    adminKeyWrong:
      'Der Knoten weist den admin_key ab: Geben Sie den aus seiner {plugin}.jcfg ein, oder installieren Sie die Konfigurationsdateien.',
    tokenSecretWrong:
      'Der Knoten weist Token ab, die mit dem token_secret signiert sind; niemand kann beitreten: Geben Sie das token_auth_secret aus seiner janus.jcfg ein, oder installieren Sie die Konfigurationsdateien.',
    tokenSecretMissing:
      'Der Knoten verlangt signierte Token, aber token_secret fehlt; niemand kann beitreten: Geben Sie das token_auth_secret aus seiner janus.jcfg ein, oder installieren Sie die Konfigurationsdateien.',
    clockAhead:
      'Die Uhr des Knotens geht {seconds} s vor; Personen werden daher zu früh abgewiesen: Synchronisieren Sie beide Uhren (NTP).',
    clockBehind:
      'Die Uhr des Knotens geht {seconds} s nach; Personen werden daher zu lange eingelassen: Synchronisieren Sie beide Uhren (NTP).',
    trialFailed: 'Ein Proberaum konnte nicht getestet werden: {reason}.',
    tokenAuthOff:
      'Wer den Knoten erreicht, kann ihn verwenden, denn er verlangt keinen Token: Installieren Sie die Konfigurationsdateien, oder setzen Sie token_auth und token_auth_secret in janus.jcfg.',
    adminOpen: 'Die Admin-API antwortet ohne Geheimnis: Setzen Sie admin_secret in janus.jcfg.',
    roomsCreatable: 'Alle können Räume erstellen: Setzen Sie admin_key in janus.plugin.videoroom.jcfg und hier.',
    camerasCreatable:
      'Alle können den Knoten mit beliebigen Adressen verbinden: Setzen Sie admin_key in janus.plugin.streaming.jcfg und hier.',
    forwardingOpen:
      'Medien eines Raums können allein mit dessen Geheimnis an beliebige Adressen gesendet werden: Setzen Sie lock_rtp_forward = true und admin_key in janus.plugin.videoroom.jcfg.',
    recordingOpen:
      'Personen können Aufzeichnungen in beliebige Dateien des Knotens schreiben: Installieren Sie ein Janus, das lock_record kennt.',
    roomOpen:
      'Jemand ohne Rechte könnte dies mit einem fremden Raum tun ({acts}): Installieren Sie die Konfigurationsdateien.',
    roomsUnguarded:
      'Ohne token_secret kann jeder beitreten, der die ID eines Raums kennt: Installieren Sie die Konfigurationsdateien.',
    adminUnused:
      'Ohne admin_url bleiben entfernte Personen mit dem Knoten verbunden: Aktivieren Sie die Admin-API in einem Verwaltungsnetz.',
    eventsOff:
      'Keine Janus-Ereignisse: Öffnen Sie den Ereignisport (Einstellungen › Netzwerk oder --event-port), installieren Sie die Konfigurationsdateien neu, und lassen Sie den Knoten dem Zertifikat dieser Anlage vertrauen, falls sie eines hat.',
    reclaimOff:
      'Kameras verlassen ihre Räume, wenn der Controller neu startet: Setzen Sie reclaim_session_timeout = 60 in janus.jcfg.',
    roomsListed:
      'Wer eingelassen ist, kann fremde Räume auf diesem Knoten auflisten ({count}): Entfernen Sie sie aus janus.plugin.videoroom.jcfg.',
    dependenciesShown:
      'Der Knoten nennt Fremden die verwendeten Bibliotheken: Setzen Sie hide_dependencies = true in janus.jcfg.',
    pluginsUnused: 'Nicht benötigte Plugins sind geladen ({plugins}): Deaktivieren Sie sie in janus.jcfg.',
  },
  transcoding: {
    title: 'Kameras, die Browser nicht wiedergeben können',
    pictures: 'Bilder',
    sound: 'Nur Ton',
    use: '{used} von {limit} belegt',
    install: 'Installationsbefehl',
    states: {
      ready: 'Version {version}',
      incomplete: 'Version {version}, Encoder fehlen',
      missing: 'auf diesem Computer nicht gefunden',
      off: 'in den Einstellungen ausgeschaltet',
    },
    hints: {
      incomplete: 'Erfordert die Encoder für H.264 (libx264) und Opus (libopus).',
      missing:
        'Damit gibt jeder Browser H.265, Motion JPEG, B-Frames und AAC wieder. Wird Sekunden nach der Installation erkannt.',
      off: 'H.265 und B-Frames laufen nicht in jedem Browser; Motion JPEG und AAC in keinem.',
    },
  },
  relays: {
    title: 'Relays',
    rooms: 'Mit anderen Knoten geteilte Räume',
    in: 'Streams von anderen Knoten',
    out: 'Streams zu anderen Knoten',
  },
  sentences: {
    silent: 'Der Knoten hat nicht innerhalb von {seconds} s geantwortet.',
    noDriver: 'Dieser Controller kann Knoten der Art {kind} nicht steuern.',
    portClosed: 'Der Knotenport ist geschlossen: siehe Einstellungen › Netzwerk.',
    outOfService: 'Der Knoten wurde deaktiviert.',
    notRunning: 'Der Knoten läuft nicht.',
    connection: 'Die Verbindung zum Knoten ist fehlgeschlagen: {reason}.',
    refused: 'Der Knoten hat abgewiesen: {reason}.',
    unexpected: 'Der Knoten ist unerwartet ausgefallen; Einzelheiten stehen im Protokoll.',
    answers: 'Räume darauf: {rooms}, Benutzer: {users}.',
  },
}
