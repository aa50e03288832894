import { win32 } from 'node:path'
import {
  type Command,
  type ServicePlan,
  type ServiceRequest,
  type ServiceStep,
  stopMs,
  xmlText,
} from './service-plan.ts'

/** Name of the service, and of its virtual account `NT SERVICE\Roomdesk`, which Windows makes with it. */
const serviceName = 'Roomdesk'
const account = `NT SERVICE\\${serviceName}`

/** Rights on folders, by well-known ids: names of groups differ by language. */
const system = '*S-1-5-18:(OI)(CI)F'
const administrators = '*S-1-5-32-544:(OI)(CI)F'

/** Facts of Windows. */
export interface WindowsFacts {
  /** `%ProgramData%` */
  programData: string
  /** `%SystemRoot%` */
  systemRoot: string
  /** Folder of the wrapper (WinSW) that the app brings. */
  wrapper: string
}

/**
 * Plans a Windows service: the service manager starts WinSW, which starts the app without a window and stops it by `--quit`. It runs as an
 * account of its own that may change its data and nothing else.
 */
export function windowsService(request: ServiceRequest, facts: WindowsFacts): ServicePlan {
  const base = win32.join(facts.programData, serviceName)
  const at = (...parts: string[]): string => win32.join(base, ...parts)
  const dataFolder = request.dataFolder ?? at('site')
  const programs = at('service')
  const service = win32.join(programs, 'roomdesk-service.exe')
  const system32 = (name: string): string => win32.join(facts.systemRoot, 'System32', name)
  const run = (command: Command, optional = false): ServiceStep => ({ kind: 'run', command, optional })
  const mine = [dataFolder, at('app'), at('logs')]
  const rule = ['advfirewall', 'firewall'] as const
  const removeRule = run([system32('netsh.exe'), ...rule, 'delete', 'rule', `name=${serviceName}`], true)
  return {
    mark: service,
    dataFolder,
    log: at('logs', 'roomdesk.log'),
    install: [
      ...[base, programs, ...mine].map((path) => ({ kind: 'folder', path, mode: 0o700 }) as const),
      { kind: 'copy', from: win32.join(facts.wrapper, 'winsw.exe'), to: service },
      { kind: 'copy', from: win32.join(facts.wrapper, 'winsw.exe.config'), to: `${service}.config` },
      {
        kind: 'file',
        path: win32.join(programs, 'roomdesk-service.xml'),
        content: wrapperFile(request, dataFolder, at('app'), at('logs')),
        mode: 0o600,
      },
      run([service, 'install']),
      run([system32('sc.exe'), 'config', serviceName, 'obj=', account]),
      // %ProgramData% lets every user read: the folder is closed, then opened for the service.
      run([
        system32('icacls.exe'),
        base,
        '/inheritance:r',
        '/grant:r',
        system,
        administrators,
        `${account}:(OI)(CI)RX`,
      ]),
      ...mine.map((folder) => run([system32('icacls.exe'), folder, '/grant', `${account}:(OI)(CI)M`])),
      // A service cannot ask, and Windows would block it in silence. It listens on this machine alone until a bind address says otherwise.
      removeRule,
      run([
        system32('netsh.exe'),
        ...[...rule, 'add', 'rule', `name=${serviceName}`, 'dir=in', 'action=allow'],
        ...[`program=${request.program}`, 'profile=domain,private'],
      ]),
      run([service, 'start']),
    ],
    remove: [run([service, 'stop'], true), run([service, 'uninstall']), removeRule, { kind: 'remove', path: programs }],
  }
}

/** Configuration of WinSW 1.17. It stores what it starts in the log by size, and restarts what fails after 2 s. */
function wrapperFile({ program, flags }: ServiceRequest, dataFolder: string, app: string, logs: string): string {
  const element = (name: string, text: string): string => `  <${name}>${xmlText(text)}</${name}>`
  const own = `--user-data-dir=${app}`
  const start = ['--headless', '--service', own, `--data-dir=${dataFolder}`, ...flags]
  return [
    '<service>',
    element('id', serviceName),
    element('name', serviceName),
    element('description', 'Media rooms and RTSP devices'),
    element('executable', program),
    // `argument` would be given to the program that stops it, too.
    ...start.map((argument) => element('startargument', quoted(argument))),
    element('stopexecutable', program),
    ...['--quit', own].map((argument) => element('stopargument', quoted(argument))),
    element('stoptimeout', `${stopMs / 1_000} sec`),
    element('logpath', logs),
    '  <log mode="roll-by-size">',
    '    <sizeThreshold>1024</sizeThreshold>',
    '    <keepFiles>1</keepFiles>',
    '  </log>',
    '  <onfailure action="restart" delay="2 sec" />',
    '  <resetfailure>1 hour</resetfailure>',
    '</service>',
    '',
  ].join('\r\n')
}

/** Quotes an argument as programs of Windows read their command line (CommandLineToArgvW): WinSW joins arguments as they are. */
function quoted(argument: string): string {
  if (/^[^\s"]+$/.test(argument)) return argument
  return `"${argument.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, (slashes) => slashes + slashes)}"`
}
