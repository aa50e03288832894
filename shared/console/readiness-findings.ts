/**
 * State of a finding. `good`: no problem. `attention`: a problem with advice. `unchecked`: the state cannot be
 * determined on this machine, or there is nothing to check.
 */
export const readinessStates = ['good', 'attention', 'unchecked'] as const
export type ReadinessState = (typeof readinessStates)[number]

export const findingStates = {
  portsReachable: 'good',
  portsLocal: 'good',
  portsDown: 'attention',
  portsSilent: 'attention',
  portsNoNetwork: 'attention',
  phoneArrived: 'good',
  phoneWaiting: 'unchecked',
  phoneLocal: 'attention',
  phoneNoNetwork: 'attention',
  phoneNoPage: 'unchecked',
  firewallNone: 'good',
  firewallPasses: 'good',
  firewallAllows: 'good',
  firewallLocal: 'good',
  firewallActive: 'attention',
  firewallBlocks: 'attention',
  firewallUnknown: 'unchecked',
  encryptionOn: 'good',
  encryptionLocal: 'good',
  encryptionProxy: 'good',
  encryptionOff: 'attention',
  ffmpegWhole: 'good',
  ffmpegPart: 'attention',
  ffmpegMissing: 'attention',
  ffmpegBroken: 'attention',
  keyKeychain: 'good',
  keyFile: 'good',
  keyOpen: 'attention',
  keyPlain: 'attention',
  diskFast: 'good',
  diskSlow: 'attention',
  diskRefused: 'attention',
  spaceEnough: 'good',
  spaceLow: 'attention',
  clockSynchronised: 'good',
  clockFree: 'attention',
  clockUnknown: 'unchecked',
  cameraClocksAgree: 'good',
  cameraClocksNone: 'good',
  cameraClocksDiffer: 'attention',
  cameraClocksUnknown: 'unchecked',
  trayShown: 'good',
  trayMissing: 'attention',
  trayUnknown: 'unchecked',
  sandboxOn: 'good',
  sandboxOff: 'attention',
  wallsPlaced: 'good',
  wallsUnplaced: 'attention',
  powerAwake: 'good',
  powerBattery: 'attention',
  powerSleeps: 'attention',
  powerIdleSleeps: 'attention',
  powerUnknown: 'unchecked',
  checkTimedOut: 'unchecked',
  checkFailed: 'unchecked',
} as const satisfies Readonly<Record<string, ReadinessState>>
export type FindingName = keyof typeof findingStates

/** Advice of a finding that needs none. */
const none = ''
const tryPhone = 'Scan the code of this page with a phone: if its request arrives, nothing blocks it.'
const runAgain = 'Check again. If it stays so, save the diagnostics and report it.'

/**
 * English sentences of each finding: its meaning and the advice. The console also uses these for English. `{…}` stands
 * for a value.
 */
export const findingTexts = {
  portsReachable: {
    message: 'All {count} ports listen, and answer at {address}.',
    advice: none,
  },
  portsLocal: {
    message: 'All {count} ports listen, for this machine only.',
    advice: none,
  },
  portsDown: {
    message: 'Not listening: {ports}. {reason}',
    advice: 'Choose a free port in Settings, Network, or end the program that has it.',
  },
  portsSilent: {
    message: 'These ports listen, but do not answer at {address}: {ports}.',
    advice: 'Restart the listeners in Settings, Network. A security program on this machine may block them.',
  },
  portsNoNetwork: {
    message: 'The ports listen, but this machine has no address on a network.',
    advice: 'Connect it to the network, then check again.',
  },
  phoneArrived: {
    message: 'A device at {client} opened the page: this machine can be reached.',
    advice: none,
  },
  phoneWaiting: {
    message: 'No other device has opened the page yet.',
    advice: 'Scan the code with a phone in the same network.',
  },
  phoneLocal: {
    message: 'The ports listen for this machine only: phones cannot connect.',
    advice: 'Set the bind address in Settings, Network to 0.0.0.0 if others are to join from their devices.',
  },
  phoneNoNetwork: {
    message: 'This machine has no address on a network.',
    advice: 'Connect it to the network, then check again.',
  },
  phoneNoPage: {
    message: 'No media node of this machine shows pages.',
    advice: none,
  },
  firewallNone: {
    message: 'No active firewall found on this machine.',
    advice: none,
  },
  firewallPasses: {
    message: 'A device at {client} came through: no firewall blocks it.',
    advice: none,
  },
  firewallAllows: {
    message: '{name} is active, and allows Roomdesk.',
    advice: none,
  },
  firewallLocal: {
    message: 'No firewall matters: the ports listen for this machine only.',
    advice: none,
  },
  firewallActive: {
    message: '{name} is active. Its rules cannot be read without administrator rights.',
    advice: 'Allow these ports if phones cannot connect: {ports}.',
  },
  firewallBlocks: {
    message: '{name} blocks Roomdesk.',
    advice: 'Allow Roomdesk on private networks in the settings of {name}.',
  },
  firewallUnknown: {
    message: 'This system does not say whether a firewall is active.',
    advice: tryPhone,
  },
  encryptionOn: {
    message: 'All ports speak TLS.',
    advice: none,
  },
  encryptionLocal: {
    message: 'The ports speak plain HTTP, for this machine only.',
    advice: none,
  },
  encryptionProxy: {
    message: 'The ports speak plain HTTP; people come by {url}.',
    advice: none,
  },
  encryptionOff: {
    message:
      'Plain HTTP is open to the network ({ports}): others can read passwords and tokens, and people on other devices have neither camera nor microphone.',
    advice: 'Choose a certificate in Settings, Network.',
  },
  ffmpegWhole: {
    message: 'ffmpeg {version} converts pictures ({encoder}) and sound (Opus).',
    advice: none,
  },
  ffmpegPart: {
    message: 'ffmpeg {version} lacks an encoder: {missing}. Cameras that need it stay without.',
    advice: 'Install a build of ffmpeg with libx264 and libopus, then restart Roomdesk.',
  },
  ffmpegMissing: {
    message: 'ffmpeg was not found. Cameras with H.265 or AAC show no picture or no sound in browsers.',
    advice: 'Install ffmpeg: apt install ffmpeg, winget install ffmpeg or brew install ffmpeg. No restart is needed.',
  },
  ffmpegBroken: {
    message: 'ffmpeg cannot be used: {reason}',
    advice: 'Install it again, or name another one with --ffmpeg.',
  },
  keyKeychain: {
    message: 'The keychain of this session protects the key of stored secrets ({backend}).',
    advice: none,
  },
  keyFile: {
    message: 'The key of stored secrets is in a file that only this user can read.',
    advice: none,
  },
  keyOpen: {
    message: 'Others on this machine can read the key of stored secrets (mode {mode}).',
    advice: 'Close the file to others: chmod 600 {file}',
  },
  keyPlain: {
    message:
      'No keychain protects the key of stored secrets ({backend}): it is in a file that only this user can read.',
    advice: 'Install and unlock a keychain (GNOME Keyring or KWallet), then restart Roomdesk.',
  },
  diskFast: {
    message: 'A durable write takes {median_ms}, {worst_ms} at worst ({count} writes).',
    advice: none,
  },
  diskSlow: {
    message:
      'A durable write takes {median_ms}, {worst_ms} at worst ({count} writes). Changes and recordings wait for it.',
    advice: 'Move the data folder to an SSD, and off network drives.',
  },
  diskRefused: {
    message: 'The data folder cannot be written: {reason}',
    advice: 'Check the rights of the folder, its quota and the free space.',
  },
  spaceEnough: {
    message: '{free_bytes} of {total_bytes} are free.',
    advice: none,
  },
  spaceLow: {
    message: 'Only {free_bytes} of {total_bytes} are free in {folder}.',
    advice: 'Delete what is not needed, or shorten the retention of recordings.',
  },
  clockSynchronised: {
    message: 'The clock of this machine is synchronised.',
    advice: none,
  },
  clockFree: {
    message: 'The clock of this machine is not synchronised. Events, schedules and links can be off.',
    advice: 'Switch on network time: {command}',
  },
  clockUnknown: {
    message: 'This system does not say whether its clock is synchronised.',
    advice: 'Compare it with a clock you trust.',
  },
  cameraClocksAgree: {
    message: 'Every camera that tells its clock agrees with this machine ({count}).',
    advice: none,
  },
  cameraClocksNone: { message: 'No camera has joined a room.', advice: none },
  cameraClocksDiffer: {
    message:
      'Cameras with another time than this machine: {count} (h:mm:ss: {cameras}). Times in their pictures do not match recordings and events.',
    advice:
      'Set network time (NTP) and the time zone in the settings of each camera. If all are off, mend the clock of this machine.',
  },
  cameraClocksUnknown: {
    message: 'No camera tells its clock. Cameras tell it in sender reports of RTP, to embedded nodes.',
    advice: 'Compare the time in their pictures with a clock you trust.',
  },
  trayShown: {
    message: 'This desktop shows the tray icon.',
    advice: none,
  },
  trayMissing: {
    message: 'This desktop shows no tray icons: a closed window is opened by starting Roomdesk again.',
    advice: 'On GNOME, install the extension AppIndicator Support.',
  },
  trayUnknown: {
    message: 'This desktop does not say whether it shows tray icons.',
    advice: 'Look for the icon of Roomdesk in the panel.',
  },
  sandboxOn: {
    message: 'Pages run in a sandbox.',
    advice: none,
  },
  sandboxOff: {
    message: 'Pages run without a sandbox.',
    advice: 'Start Roomdesk as a user other than root, from the installed package.',
  },
  wallsPlaced: {
    message: 'Walls open on the displays that they were chosen for.',
    advice: none,
  },
  wallsUnplaced: {
    message: 'This session uses Wayland, where the desktop, not Roomdesk, chooses the display of each wall.',
    advice: 'Quit Roomdesk and start it with roomdesk --ozone-platform=x11.',
  },
  powerAwake: {
    message: 'This computer stays awake while rooms are in use.',
    advice: none,
  },
  powerBattery: {
    message: 'This computer runs on its battery.',
    advice: 'Connect it to power: an empty battery ends all meetings and recordings.',
  },
  powerSleeps: {
    message: 'This computer may sleep while rooms are in use, which ends all meetings and recordings.',
    advice: 'Choose "Keep This Computer Awake While Rooms Are Occupied" in the File menu.',
  },
  powerIdleSleeps: {
    message: 'This computer sleeps when no room is in use for {minutes} min: then nobody can join.',
    advice: 'Switch off sleep in the power settings of the system.',
  },
  powerUnknown: {
    message: 'This computer stays awake while rooms are in use. The system does not say whether it sleeps otherwise.',
    advice: 'Look at the power settings of the system: while it sleeps, nobody can join.',
  },
  checkTimedOut: {
    message: 'No answer within {seconds} s.',
    advice: runAgain,
  },
  checkFailed: {
    message: 'The check failed: {reason}',
    advice: runAgain,
  },
} as const satisfies Readonly<Record<FindingName, { message: string; advice: string }>>
