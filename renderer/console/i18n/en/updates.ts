/** Updates of the desktop app. */
export const updates = {
  title: 'Updates of this app',
  hint: 'From a place of your own: a web server or a folder with the files that the release consists of. Without one the app asks nobody.',
  source: 'Address or folder',
  sourceHint: 'Checked a minute after each start and every six hours. Empty: off.',
  sourceExample: 'https://files.example.com/roomdesk',
  when: 'When to install',
  byOperator: 'When I say so',
  quiet: 'By itself, once nobody has been in a room for five minutes',
  hour: 'Time of day',
  hourHint: 'By the clock of this computer.',
  anyTime: 'At any time',
  check: 'Check now',
  install: 'Install and restart',
  again: 'Try again',
  open: 'Open the image',
  command: 'Command',
  show: 'Show the file',
  file: 'Installer',
  notes: 'What is new in {version}',
  saved: 'Updates saved',
  checking: 'Checking…',
  fetching: 'Fetching {version}: {done} of {whole}',
  installing: 'Installing {version}…',
  ready: 'Version {version} is ready to install',
  notChecked: 'This is {version}. Not checked since the start.',
  newest: 'This is {version}. Nothing newer was found at {at}.',
  proven: 'The installer is whole, and the publisher of this app signed it.',
  package:
    'The system asks for the password of an administrator; the app goes on meanwhile, and restarts then. From a terminal, this command does the same; restart the app afterwards.',
  elevated:
    'Windows asks for the permission of an administrator, so somebody has to be at this computer: the update is never installed by itself.',
  image:
    'Open the image, quit Roomdesk, drag its icon onto Applications and choose Replace, then open it again. The app keeps all data.',
  byCommand: 'Install it with this command, then restart the app. It keeps all data.',
  byHand:
    'This system asks for the rights to install: open the file yourself. The app ends in order and keeps all data.',
  askTitle: 'Install {version} now?',
  askBody: 'Roomdesk ends in order, and starts again by itself. Clients, cameras and people reconnect.',
  losePeople: 'A person in a meeting loses the picture meanwhile | {n} people in meetings lose the picture meanwhile',
  warn: 'Warn them first: install in two minutes',
  warned: 'Version {version} is installed in a moment. People in meetings were told.',
  cancel: 'Call it off',
  problems: {
    badSource: 'This is no address of a web server and no whole path of a folder: {detail}',
    plainHttp:
      'Updates from {detail} over plain HTTP could be replaced on the way. Use an address that begins with https://, or a folder.',
    unreachable: 'The place of the updates cannot be reached ({detail}). Check the address and the network.',
    silent: '{detail} does not answer. The app tries again later.',
    refused: 'The server does not hand out the file: {detail}',
    noFile: 'The file {detail} does not exist. Copy all files of the release to this place.',
    unreadable: 'The update cannot be read or stored: {detail}',
    malformed: '{detail} does not describe a release. Copy it there again as it was made.',
    noKey:
      'This build takes no updates: it contains no key of its publisher, so it could not prove who made one. Install new versions by hand, or one that was packed with a key.',
    notSigned:
      'The release is not signed ({detail}), so it is not offered. Copy all files of the release to this place, also those that end in .sig.',
    otherKey:
      '{detail} was signed with a key that this app does not know, or was changed after it was signed. The release is not offered. Copy the file there again together with its .sig file, or ask whoever publishes this app.',
    noInstaller: 'The release has no installer for this system ({detail}).',
    truncated: '{detail} ended too early. The app fetches it again at the next check.',
    checksum:
      '{detail} is not the file that the release names: its checksum differs. It was deleted. Copy it there again.',
    signature: 'The installer is not signed by whoever signed this app ({detail}). It is not installed.',
    diskFull: 'The disk is full. Make room, then check again.',
    notWritten: 'The app cannot be replaced: {detail}. Move it to a folder that you may write to.',
    notStarted: 'The installer does not start: {detail}',
    installerEnded:
      'The installer ended without installing anything (exit code {detail}). If Windows asked for permission, nobody gave it. Try again, or show the file and open it yourself.',
    installerHangs:
      'The installer has done nothing for 15 minutes. It may wait for an answer on the screen of this computer. Answer it there, or try again.',
    notAllowed:
      'The system did not give the rights to install. Try again with the password of an administrator, or use the command below.',
    packageFailed: 'apt could not install the update: {detail}. The command below shows the whole reason.',
    notInstalled: 'Version {detail} was not installed: this is still the version before. Install it by hand.',
  },
}
