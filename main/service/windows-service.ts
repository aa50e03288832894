import { win32 } from 'node:path'
import { quotedForWindows } from '../windows-argument.ts'
import {
  type Command,
  type ServicePlan,
  type ServiceRequest,
  type ServiceStep,
  stopMs,
  xmlText,
} from './service-plan.ts'
import { createHash } from 'node:crypto'

/** Name of the service, and of its virtual account `NT SERVICE\Roomdesk`, which Windows creates with it. */
const serviceName = 'Roomdesk'
const account = `NT SERVICE\\${serviceName}`

/** Access rights on folders, in the syntax of icacls. Groups have well-known ids, because their names are localized. */
const system = '*S-1-5-18:(OI)(CI)F'
const administrators = '*S-1-5-32-544:(OI)(CI)F'

interface WindowsFacts {
  /** Value of `%ProgramData%`. */
  programData: string
  /** Value of `%SystemRoot%`. */
  systemRoot: string
  /** Folder of the wrapper (WinSW) included in the app. */
  wrapper: string
}

/**
 * Plans a Windows service: the service manager starts WinSW, which starts the app without a window and stops it with
 * `--quit`. The service has its own account, which can change only its own data.
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
      // A data folder specified by the operator may be anywhere, so its owner is not checked.
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
      // An earlier version created the folders without setting an owner, and with other rights.
      ...own.map((folder) => run([icacls, folder, '/setowner', '*S-1-5-32-544', '/L', '/Q'])),
      ...own.slice(1).map((folder) => run([icacls, folder, '/reset', '/L', '/Q'])),
      run([icacls, `${programs}\\*`, '/reset', '/T', '/L', '/Q']),
      // Removes the access of all users to the folder, then grants the service access.
      run([icacls, base, '/inheritance:r', '/grant:r', system, administrators, `${account}:(OI)(CI)RX`]),
      ...mine.map((folder) => run([icacls, folder, '/grant', `${account}:(OI)(CI)M`])),
      // Allows incoming connections: Windows would block a service silently, because the service cannot show the
      // firewall prompt. The service listens only on this machine unless a bind address is set.
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

/**
 * Returns the configuration of WinSW 1.17: rotates the log of the program's output by size, and restarts a failed
 * program after 2 s.
 */
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
    // WinSW joins arguments without quoting. An `argument` element would also be passed to the stop executable.
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

/** Security identifiers of Windows (MS-DTYP, section 2.4.2.4): the system, and the group of administrators. */
const systemId = 'S-1-5-18'
const administratorsId = 'S-1-5-32-544'

/**
 * Security descriptor of the folders (MS-DTYP, section 2.5.1): owned by administrators, inherits no rights, accessible
 * only to the system and administrators.
 */
const descriptor = 'O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'

/**
 * Returns the security identifier of a service's virtual account: SHA-1 of the service name in upper case, in UTF-16.
 */
export function serviceId(name: string): string {
  const hash = createHash('sha1').update(Buffer.from(name.toUpperCase(), 'utf16le')).digest()
  return ['S-1-5-80', ...[0, 4, 8, 12, 16].map((at) => hash.readUInt32LE(at))].join('-')
}

/**
 * Plans the creation of folders owned only by administrators. Every user may create folders in `%ProgramData%`. A
 * folder that another user prepared, with programs or keys in it, must be refused before anything is written there. An
 * existing folder, and the files directly in it, must belong to the system, administrators, the service or the
 * installing user.
 * @param powershell path of Windows PowerShell
 * @param service name of the service
 */
function securedFolders(powershell: string, folders: readonly string[], service: string): ServiceStep {
  const script = [
    "$ErrorActionPreference = 'Stop'",
    `$folders = @(${folders.map(quoted).join(', ')})`,
    `$owners = @(${[systemId, administratorsId, serviceId(service)].map(quoted).join(', ')})`,
    '$owners += [Security.Principal.WindowsIdentity]::GetCurrent().User.Value',
    '$security = New-Object Security.AccessControl.DirectorySecurity',
    `$security.SetSecurityDescriptorSddlForm(${quoted(descriptor)})`,
    'function Assert-Own($item) {',
    "  if ($item.Attributes -band [IO.FileAttributes]::ReparsePoint) { throw ($item.FullName + ' is a link.') }",
    '  $owner = $item.GetAccessControl().GetOwner([Security.Principal.SecurityIdentifier]).Value',
    "  if ($owners -notcontains $owner) { throw ($item.FullName + ' belongs to another user (' + $owner + ').') }",
    '}',
    'foreach ($folder in $folders) {',
    // The folder is created with its final rights, so other rights never apply, even briefly.
    '  [void][IO.Directory]::CreateDirectory($folder, $security)',
    '  Assert-Own (Get-Item -LiteralPath $folder -Force)',
    '  Get-ChildItem -LiteralPath $folder -Force | ForEach-Object { Assert-Own $_ }',
    '}',
  ].join('\n')
  return {
    kind: 'run',
    command: [
      ...([powershell, '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass'] as const),
      ...['-EncodedCommand', Buffer.from(script, 'utf16le').toString('base64')],
    ],
    refusal: `The folders of the service could not be made safe: ${folders.join(', ')}. Remove the one that another user made, and install the service again.`,
  }
}

/** Returns a PowerShell string literal without interpolation. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`
}
