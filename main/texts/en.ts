/** English texts of the shell: menus, tray, dialogs, notifications. The page contains the console's own texts. */
export const en = {
  open: 'Open Roomdesk',
  restartListeners: 'Restart Listeners',
  startAtLogin: 'Start at Login',
  keepInTray: 'Keep Running When the Window Is Closed',
  keepAwake: 'Keep This Computer Awake While Rooms Are Occupied',
  quit: 'Quit Roomdesk',
  openWalls: 'Open Walls',
  closeWalls: 'Close Walls',
  cancel: 'Cancel',
  file: 'File',
  edit: 'Edit',
  go: 'Go',
  view: 'View',
  window: 'Window',
  help: 'Help',
  about: 'About Roomdesk',
  openDataFolder: 'Open Data Folder',
  reload: 'Reload',
  wait: 'Wait',
  /** Labels of menu items that Electron would otherwise show in English in all languages. */
  roles: {
    close: 'Close Window',
    undo: 'Undo',
    redo: 'Redo',
    cut: 'Cut',
    copy: 'Copy',
    paste: 'Paste',
    delete: 'Delete',
    selectAll: 'Select All',
    reload: 'Reload',
    toggleDevTools: 'Developer Tools',
    resetZoom: 'Actual Size',
    zoomIn: 'Zoom In',
    zoomOut: 'Zoom Out',
    togglefullscreen: 'Full Screen',
    minimize: 'Minimize',
    zoom: 'Zoom',
    front: 'Bring All to Front',
    hide: 'Hide Roomdesk',
    hideOthers: 'Hide Others',
    unhide: 'Show All',
  },
  pages: {
    overview: 'Overview',
    credentials: 'Credentials',
    rooms: 'Rooms',
    nodes: 'MCU Nodes',
    devices: 'Devices',
    activity: 'Activity',
    tester: 'API Tester',
    settings: 'Settings',
  },
  closeQuestion: 'Keep Roomdesk running when its window is closed?',
  closeDetail:
    'The APIs answer and devices stay joined only while Roomdesk is running. To open the window, click the tray icon or start Roomdesk again.',
  closeRemember: 'Do this every time',
  keepRunning: 'Keep Running',
  crashed: 'The console page crashed and was reloaded. The controller kept running.',
  pageNotOpened: 'The page could not be opened in the browser.',
  crashedAgain: 'The console page keeps crashing. The controller keeps running.',
  crashedForGood:
    'Roomdesk failed repeatedly and will not restart automatically. Please report the log entry "unexpected error", then start Roomdesk again.',
  crashedAtStart:
    'An unexpected error ended the start. Please report the log entry "unexpected error", then start Roomdesk again.',
  unresponsive: 'The console page does not respond. The controller keeps running.',
  starting: 'Starting…',
  allWell: 'All is well',
  attention: (count: number) => (count === 1 ? '1 issue needs attention' : `${count} issues need attention`),
  counts: (rooms: number, people: number, devices: number) => `Rooms ${rooms} · People ${people} · Devices ${devices}`,
  nodeDown: (name: string) => `MCU node ${name} is offline.`,
  nodesDown: (count: number) => `${count} MCU nodes are offline.`,
  deviceDown: (name: string) => `Device ${name} was lost; Roomdesk is reconnecting it.`,
  devicesDown: (count: number) => `${count} devices were lost; Roomdesk is reconnecting them.`,
  notShown: 'The system did not show these notifications',
  cannotStart: 'Roomdesk cannot start',
  onlyHeadless: (flag: string) =>
    `The desktop app keeps its site in files, under a key of its own: ${flag} works only without a window (roomdesk --headless). Remove it, or the environment variable of that name.`,
  halfMoved: (from: string, to: string) =>
    `Half of the files of Roomdesk are in ${from}, half in ${to}. Close other programs that use them, and start Roomdesk again.`,
  mistypedFlag: (flag: string, meant: string) =>
    `Roomdesk has no flag ${flag}. Start it again with ${meant}, or without that flag; roomdesk --help lists all.`,
  openToOthers: 'Other machines can connect',
  openToOthersDetail: {
    win32:
      'Windows will ask whether Roomdesk may communicate on networks: allow private networks, or other machines cannot reach it.',
    darwin:
      'macOS will ask whether Roomdesk may accept incoming connections and find devices on the local network: allow both, or clients and cameras cannot be reached.',
  },
  portTaken: 'Roomdesk cannot listen',
  portTakenDetail: 'It can start now on free ports; clients must then use the addresses shown in the overview.',
  keychainLocked: 'The keychain is locked',
  keychainLockedDetail:
    'It holds the key of this site. Unlock it (on Linux for example by opening Passwords and Keys), then try again. Nothing was changed.',
  keychainRefuses: 'The keychain does not open this site',
  keychainRefusesDetail:
    'The key of this site opens only for the user who made it, on the same machine, while the keychain runs. Nothing was changed.',
  goOn: 'Continue',
  tryAgain: 'Try Again',
  useFreePorts: 'Use Free Ports Once',
  notAsRoot: 'Roomdesk does not run as root: its pages would have no sandbox. Start it as another user.',
  noSandbox:
    'This system gives the pages of an AppImage no sandbox. Install the .deb of Roomdesk, which brings an AppArmor profile, or allow programs their own user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0',
  plainKey:
    'This session has no keychain: the key that protects stored secrets is kept in a file that only this user can read.',
}

/** Texts of the shell in one language. */
export type Texts = typeof en
