import { win32 } from 'node:path'
import { quotedForWindows } from '../windows-argument.ts'
import { securedFolders } from './secured-folder.ts'
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
  const at = (name: 'site' | 'app' | 'logs' | 'service'): string => win32.join(base, name)
  const dataFolder = request.dataFolder ?? at('site')
  const programs = at('service')
  const service = win32.join(programs, 'roomdesk-service.exe')
  const system32 = (name: 'icacls.exe' | 'netsh.exe' | 'sc.exe'): string =>
    win32.join(facts.systemRoot, 'System32', name)
  const powershell = win32.join(facts.systemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  const run = (command: Command, optional = false): ServiceStep => ({ kind: 'run', command, optional })
  const mine = [dataFolder, at('app'), at('logs')]
  const own = [base, programs, ...(request.dataFolder === undefined ? [dataFolder] : []), at('app'), at('logs')]
  const icacls = system32('icacls.exe')
  const rule = ['advfirewall', 'firewall'] as const
  const removeRule = run([system32('netsh.exe'), ...rule, 'delete', 'rule', `name=${serviceName}`], true)
  return {
    mark: service,
    dataFolder,
    log: win32.join(at('logs'), 'roomdesk.log'),
    install: [
      securedFolders(powershell, own, serviceName),
      // One that the operator named may be anywhere.
      ...(request.dataFolder === undefined ? [] : [{ kind: 'folder', path: request.dataFolder, mode: 0o700 } as const]),
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
      // An earlier version made them without an owner of its choice, and with rights of their own.
      ...own.map((folder) => run([icacls, folder, '/setowner', '*S-1-5-32-544', '/L', '/Q'])),
      ...own.slice(1).map((folder) => run([icacls, folder, '/reset', '/L', '/Q'])),
      run([icacls, `${programs}\\*`, '/reset', '/T', '/L', '/Q']),
      // The folder is closed, then opened for the service.
      run([icacls, base, '/inheritance:r', '/grant:r', system, administrators, `${account}:(OI)(CI)RX`]),
      ...mine.map((folder) => run([icacls, folder, '/grant', `${account}:(OI)(CI)M`])),
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
    // WinSW joins arguments as they are. `argument` would be given to the program that stops it, too.
    ...start.map((argument) => element('startargument', quotedForWindows(argument))),
    element('stopexecutable', program),
    ...['--quit', own].map((argument) => element('stopargument', quotedForWindows(argument))),
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
