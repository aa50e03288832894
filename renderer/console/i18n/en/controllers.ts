/** Controllers of the site, and the storage of its state. */
export const controllers = {
  title: 'Controllers',
  purpose: 'One controller is the leader and serves the site; the others are replicas and take over if it fails.',
  alone: 'One controller serves this site',
  aloneBody:
    'Its state is stored in files on this machine. To add a second controller, move the state to PostgreSQL and start another controller on the same database.',
  aloneDocs: 'Read how to run several controllers',
  noStandby: 'No replica: if this controller fails, the site stops until it is back.',
  this: 'this one',
  columns: {
    name: 'Controller',
    role: 'Role',
    behind: 'Behind the leader',
    seen: 'Last seen',
    version: 'Version',
    console: 'Console',
    actions: 'Actions',
  },
  roles: { leader: 'Leader', standby: 'Replica', gone: 'Gone' },
  since: '{state} for {span}',
  goneSince: 'Gone for {span}',
  upToDate: 'Up to date',
  behind: '{count} change, {time} | {count} changes, {time}',
  unknown: 'unknown',
  otherVersion: 'The leader runs {version}: install the same version on all controllers.',
  lease: {
    epoch: 'Epoch {epoch}.',
    steady: 'The leader has proved its lease without a gap.',
    lapses:
      'The leader could not prove its lease {lapses} time, so {waits} requests waited: check the database and the way to it. | The leader could not prove its lease {lapses} times, so {waits} requests waited: check the database and the way to it.',
  },
  unreachable:
    'This controller cannot reach {name}, so reads stop when the database is away. Check the network and the firewall between the two machines.',
  refusedPlain:
    '{name} is on another machine and announces no certificate, so this controller sends it nothing: update {name}, or start this controller with --allow-plain-controllers on.',
  noConsole: 'this machine only',
  openConsole: 'Open the console of {name}',
  medium: {
    title: 'Database',
    reachable: 'Reachable',
    away: 'Cannot be reached since {since}',
    awayBody: 'Changes are refused until it is back. Meetings and viewing continue.',
    known: 'The list is as of {since}.',
  },
  panel: {
    title: 'Addresses',
    media: 'Media API',
    device: 'Device API',
    node: 'Node port',
    console: 'Console',
    event: 'Event port',
    closed: 'not listening',
    id: 'ID',
    since: 'In this role since',
  },
  lead: {
    act: 'Make leader',
    title: 'Make {name} the leader?',
    body: '{leader} finishes the changes in progress and hands over to {name}.',
    changes: 'Changes resume within a second; confirmed ones are kept.',
    people:
      'People in rooms on embedded nodes move to the new leader within 5 s; rooms on Janus nodes are not affected.',
    consoles: 'The console of {leader} becomes read-only.',
    behind:
      '{name} is {count} change behind and catches up first. | {name} is {count} changes behind and catches up first.',
    working: 'Handing over to {name}…',
    done: '{name} is the leader now; the hand-over took {time}.',
    failed: 'The leader was not changed: {message}',
    late: '{name} did not take over within {seconds} s.',
    dismiss: 'Close',
  },
  banner: {
    standby: 'Read-only replica. The leader is {name}.',
    open: 'Open the console of {name}',
    nobody: 'No leader since {since}: changes wait or are refused until a controller takes over.',
    database:
      'The database cannot be reached since {since} ({reason}): changes are refused; meetings and viewing continue.',
    unreachable:
      'This controller cannot reach {name} ({ports}): calls that arrive here are refused. Check the network and the firewall between the two machines.',
    show: 'Show controllers',
  },
} as const
