import type { Texts } from './en.ts'

export const de: Texts = {
  open: 'Roomdesk öffnen',
  restartListeners: 'Listener neu starten',
  startAtLogin: 'Bei der Anmeldung starten',
  keepInTray: 'Nach dem Schließen des Fensters weiterlaufen',
  keepAwake: 'Computer wach halten, solange Räume belegt sind',
  quit: 'Roomdesk beenden',
  openWalls: 'Videowände öffnen',
  closeWalls: 'Videowände schließen',
  cancel: 'Abbrechen',
  file: 'Datei',
  edit: 'Bearbeiten',
  go: 'Gehe zu',
  view: 'Darstellung',
  window: 'Fenster',
  help: 'Hilfe',
  about: 'Über Roomdesk',
  openDataFolder: 'Datenordner öffnen',
  reload: 'Neu laden',
  wait: 'Warten',
  roles: {
    close: 'Fenster schließen',
    undo: 'Rückgängig',
    redo: 'Wiederholen',
    cut: 'Ausschneiden',
    copy: 'Kopieren',
    paste: 'Einfügen',
    delete: 'Löschen',
    selectAll: 'Alles auswählen',
    reload: 'Neu laden',
    toggleDevTools: 'Entwicklertools',
    resetZoom: 'Originalgröße',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    togglefullscreen: 'Vollbild',
    minimize: 'Minimieren',
    zoom: 'Zoomen',
    front: 'Alle nach vorne bringen',
    hide: 'Roomdesk ausblenden',
    hideOthers: 'Andere ausblenden',
    unhide: 'Alle einblenden',
  },
  pages: {
    overview: 'Übersicht',
    credentials: 'Zugangsdaten',
    rooms: 'Räume',
    nodes: 'MCU-Knoten',
    devices: 'Geräte',
    activity: 'Anfragen',
    tester: 'API-Tester',
    settings: 'Einstellungen',
  },
  closeQuestion: 'Soll Roomdesk weiterlaufen, wenn das Fenster geschlossen wird?',
  closeDetail:
    'Nur solange Roomdesk läuft, antworten die APIs und bleiben Geräte in ihren Räumen. Das Fenster öffnen Sie über das Symbol im Infobereich, oder indem Sie Roomdesk erneut starten.',
  closeRemember: 'Immer so verfahren',
  keepRunning: 'Weiterlaufen',
  crashed: 'Die Konsolenseite ist abgestürzt und wurde neu geladen. Der Controller lief weiter.',
  pageNotOpened: 'Die Seite konnte nicht im Browser geöffnet werden.',
  crashedAgain: 'Die Konsolenseite stürzt wiederholt ab. Der Controller läuft weiter.',
  crashedForGood:
    'Roomdesk ist wiederholt abgestürzt und wird nicht mehr automatisch neu gestartet. Bitte melden Sie den Protokolleintrag „unexpected error“ und starten Sie Roomdesk dann erneut.',
  crashedAtStart:
    'Ein unerwarteter Fehler hat den Start abgebrochen. Bitte melden Sie den Protokolleintrag „unexpected error“ und starten Sie Roomdesk dann erneut.',
  unresponsive: 'Die Konsolenseite reagiert nicht. Der Controller läuft weiter.',
  starting: 'Startet…',
  allWell: 'Alles in Ordnung',
  attention: (count) =>
    count === 1 ? '1 Problem erfordert Aufmerksamkeit' : `${count} Probleme erfordern Aufmerksamkeit`,
  counts: (rooms, people, devices) => `Räume ${rooms} · Personen ${people} · Geräte ${devices}`,
  nodeDown: (name) => `Der MCU-Knoten ${name} ist offline.`,
  nodesDown: (count) => `${count} MCU-Knoten sind offline.`,
  deviceDown: (name) => `Die Verbindung zum Gerät ${name} ist abgebrochen; Roomdesk verbindet es neu.`,
  devicesDown: (count) => `Die Verbindung zu ${count} Geräten ist abgebrochen; Roomdesk verbindet sie neu.`,
  notShown: 'Das System hat diese Benachrichtigungen nicht angezeigt',
  cannotStart: 'Roomdesk kann nicht starten',
  onlyHeadless: (flag) =>
    `Die Desktop-App speichert ihre Anlage in Dateien, mit einem eigenen Schlüssel: ${flag} gilt nur ohne Fenster (roomdesk --headless). Entfernen Sie es, oder die Umgebungsvariable dieses Namens.`,
  halfMoved: (from, to) =>
    `Die Dateien von Roomdesk liegen zur Hälfte in ${from} und zur Hälfte in ${to}. Schließen Sie andere Programme, die sie benutzen, und starten Sie Roomdesk erneut.`,
  mistypedFlag: (flag, meant) =>
    `Roomdesk kennt kein ${flag}. Starten Sie es mit ${meant} erneut, oder ohne diese Angabe; roomdesk --help nennt alle.`,
  openToOthers: 'Andere Computer können sich verbinden',
  openToOthersDetail: {
    win32:
      'Windows fragt, ob Roomdesk in Netzwerken kommunizieren darf: Erlauben Sie private Netzwerke, sonst erreichen andere Computer es nicht.',
    darwin:
      'macOS fragt, ob Roomdesk eingehende Verbindungen annehmen und Geräte im lokalen Netzwerk finden darf: Erlauben Sie beides, sonst sind Clients und Kameras nicht erreichbar.',
  },
  portTaken: 'Roomdesk kann seine Ports nicht öffnen',
  portTakenDetail:
    'Es kann jetzt auf freien Ports starten; Clients müssen dann die Adressen verwenden, die die Übersicht zeigt.',
  keychainLocked: 'Der Schlüsselbund ist gesperrt',
  keychainLockedDetail:
    'Er enthält den Schlüssel dieser Anlage. Entsperren Sie ihn (unter Linux zum Beispiel mit „Passwörter und Schlüssel“) und versuchen Sie es erneut. Es wurde nichts geändert.',
  keychainRefuses: 'Der Schlüsselbund öffnet diese Anlage nicht',
  keychainRefusesDetail:
    'Der Schlüssel dieser Anlage öffnet sich nur für den Benutzer, der ihn erstellt hat, auf demselben Computer und solange der Schlüsselbund läuft. Es wurde nichts geändert.',
  goOn: 'Fortfahren',
  tryAgain: 'Erneut versuchen',
  useFreePorts: 'Einmal freie Ports verwenden',
  notAsRoot: 'Roomdesk läuft nicht als root: Seine Seiten hätten keine Sandbox. Starten Sie es als anderer Benutzer.',
  noSandbox:
    'Das System gibt den Seiten eines AppImage keine Sandbox. Installieren Sie das .deb von Roomdesk, das ein AppArmor-Profil mitbringt, oder erlauben Sie Programmen eigene Benutzer-Namensräume: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0',
  plainKey:
    'Diese Sitzung hat keinen Schlüsselbund: Der Schlüssel, der gespeicherte Geheimnisse schützt, liegt in einer Datei, die nur dieser Benutzer lesen kann.',
}
