import { posix } from 'node:path'
import { appId } from '../app-id.ts'
import { type ServicePlan, type ServiceRequest, type ServiceStep, stopMs, xmlText } from './service-plan.ts'

const base = '/Library/Application Support/Roomdesk'
const file = `/Library/LaunchDaemons/${appId}.plist`
const launchctl = '/bin/launchctl'

/**
 * Plans a LaunchDaemon: launchd starts the app without a window when the Mac starts, before a user logs in.
 * @param user account of the service
 */
export function macService(request: ServiceRequest, user: string): ServicePlan {
  const at = (name: 'site' | 'app' | 'logs'): string => posix.join(base, name)
  const dataFolder = request.dataFolder ?? at('site')
  const log = posix.join(at('logs'), 'roomdesk.log')
  const stop: ServiceStep = { kind: 'run', command: [launchctl, 'bootout', `system/${appId}`], optional: true }
  const mine = [dataFolder, at('app'), at('logs')]
  return {
    mark: file,
    dataFolder,
    log,
    install: [
      { kind: 'folder', path: base, mode: 0o755, mustBeOurs: true },
      ...mine.map((path) => ({ kind: 'folder', path, mode: 0o700 }) as const),
      { kind: 'run', command: ['/usr/sbin/chown', '-R', user, ...mine] },
      { kind: 'file', path: file, content: propertyList(daemon(request, user, dataFolder, at('app'))), mode: 0o644 },
      stop,
      { kind: 'run', command: [launchctl, 'enable', `system/${appId}`] },
      { kind: 'run', command: [launchctl, 'bootstrap', 'system', file] },
    ],
    remove: [stop, { kind: 'remove', path: file }],
  }
}

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value }

/** Returns the keys of the LaunchDaemon (launchd.plist(5)). */
function daemon(
  { program, flags }: ServiceRequest,
  user: string,
  dataFolder: string,
  app: string,
): Record<string, Value> {
  return {
    Label: appId,
    ProgramArguments: [
      program,
      ...['--headless', '--service', `--user-data-dir=${app}`, `--data-dir=${dataFolder}`],
      ...flags,
    ],
    UserName: user,
    RunAtLoad: true,
    // launchd restarts the service only after a failure.
    KeepAlive: { SuccessfulExit: false },
    ExitTimeOut: stopMs / 1_000,
    // Other types are throttled while no user is active on the Mac.
    ProcessType: 'Interactive',
    // 0077: only the service's user can access the site.
    Umask: 63,
    SoftResourceLimits: { NumberOfFiles: 65_536 },
    // The app limits the size of its own log; launchd would not limit these files.
    StandardOutPath: '/dev/null',
    StandardErrorPath: '/dev/null',
  }
}

/** Returns the text of a property list (plist(5)). */
function propertyList(values: Record<string, Value>): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${element(values)}
</plist>
`
}

function element(value: Value): string {
  if (typeof value === 'string') return `<string>${xmlText(value)}</string>`
  if (typeof value === 'number') return `<integer>${value}</integer>`
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>'
  if (isList(value)) return `<array>\n${value.map(element).join('\n')}\n</array>`
  const entries = Object.entries(value).map(([key, one]) => `<key>${xmlText(key)}</key>\n${element(one)}`)
  return `<dict>\n${entries.join('\n')}\n</dict>`
}

const isList = (value: readonly string[] | Record<string, Value>): value is readonly string[] => Array.isArray(value)
