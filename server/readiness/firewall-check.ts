import { access, readFile } from 'node:fs/promises'
import { leavesMachine } from '../../shared/bind-address.ts'
import { type Check, type Finding, found } from './readiness.ts'
import type { PhoneVisits } from './phone-check.ts'
import type { SystemTool } from './system-tool.ts'

interface FirewallDependencies {
  host: () => string
  /** Ports to open, e.g. `TCP 7080`. */
  ports: () => string[]
  visits: Pick<PhoneVisits, 'arrived'>
  tool: SystemTool
  platform?: NodeJS.Platform
  /** Program to which rules apply on Windows and macOS. */
  program?: string
  /** Root of the file system on Linux. */
  root?: string
}

/** Firewall, and whether it allows Roomdesk; undefined: its rules cannot be read. */
interface Firewall {
  name: string
  allows?: boolean | undefined
}

/**
 * Checks whether a firewall of this machine is active, as far as this can be determined without administrator rights.
 */
export function firewallCheck(dependencies: FirewallDependencies): Check {
  const { host, visits } = dependencies
  return async (signal) => {
    if (!leavesMachine(host())) return found('firewallLocal')
    const { arrived } = visits
    if (arrived?.own === false) return found('firewallPasses', { client: arrived.client })
    const active = await activeFirewall(dependencies, signal)
    if (active === undefined) return found('firewallUnknown')
    if (active === null) return found('firewallNone')
    return ofActive(active, dependencies)
  }
}

function ofActive({ name, allows }: Firewall, { ports }: FirewallDependencies): Finding {
  if (allows === undefined) return found('firewallActive', { name, ports: ports().join(', ') })
  return allows ? found('firewallAllows', { name }) : found('firewallBlocks', { name })
}

/** Returns the active firewall; null: no firewall is active; undefined: this cannot be determined. */
async function activeFirewall(
  dependencies: FirewallDependencies,
  signal: AbortSignal,
): Promise<Firewall | null | undefined> {
  const { platform = process.platform } = dependencies
  if (platform === 'linux') return await ofLinux(dependencies, signal)
  if (platform === 'win32') return await ofWindows(dependencies, signal)
  return platform === 'darwin' ? await ofMac(dependencies, signal) : undefined
}

/** Reads the configuration of ufw, which all users can read. Other firewalls are systemd services. */
async function ofLinux(
  { tool, root = '/' }: FirewallDependencies,
  signal: AbortSignal,
): Promise<Firewall | null | undefined> {
  // A failure means that ufw is not installed.
  const ufw = await readFile(`${root}etc/ufw/ufw.conf`, 'utf8').catch(() => '')
  if (/^ENABLED=yes\s*$/im.test(ufw)) return { name: 'ufw' }
  const hasSystemd = await access(`${root}run/systemd/system`).then(
    () => true,
    () => false,
  )
  if (!hasSystemd) return undefined
  const services = ['firewalld', 'nftables', 'iptables'] as const
  const states = await tool('systemctl', ['is-active', ...services], signal)
  if (states === undefined) return undefined
  const lines = states.split('\n')
  const name = services.find((_, index) => lines[index]?.trim() === 'active')
  return name === undefined ? null : { name }
}

/**
 * Lists enabled rules for incoming connections of this program, with documented Windows commands whose output is the
 * same in all languages.
 */
const windowsScript = `
$ErrorActionPreference = 'Stop'
$on = @(Get-NetFirewallProfile -PolicyStore ActiveStore | Where-Object { $_.Enabled -eq 'True' })
if ($on.Count -eq 0) { 'off'; exit }
$rules = @(Get-NetFirewallApplicationFilter -Program $args[0] -ErrorAction SilentlyContinue | Get-NetFirewallRule | Where-Object { $_.Enabled -eq 'True' -and $_.Direction -eq 'Inbound' })
if (@($rules | Where-Object { $_.Action -eq 'Block' }).Count -gt 0) { 'block' } elseif ($rules.Count -gt 0) { 'allow' } else { 'on' }
`

async function ofWindows(
  { tool, program = process.execPath }: FirewallDependencies,
  signal: AbortSignal,
): Promise<Firewall | null | undefined> {
  const command = `& {${windowsScript}} '${program.replaceAll("'", "''")}'`
  const answer = await tool('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', command], signal)
  const name = 'Windows Defender Firewall'
  const known: Readonly<Record<string, Firewall | null>> = {
    off: null,
    on: { name },
    allow: { name, allows: true },
    block: { name, allows: false },
  }
  return known[answer?.trim() ?? '']
}

const socketFilter = '/usr/libexec/ApplicationFirewall/socketfilterfw'

async function ofMac(
  { tool, program = process.execPath }: FirewallDependencies,
  signal: AbortSignal,
): Promise<Firewall | null | undefined> {
  const state = /State = (\d)/.exec((await tool(socketFilter, ['--getglobalstate'], signal)) ?? '')?.[1]
  if (state === undefined) return undefined
  if (state === '0') return null
  const name = 'macOS Firewall'
  const rule = (await tool(socketFilter, ['--getappblocked', program], signal)) ?? ''
  if (/is blocked|block incoming/i.test(rule)) return { name, allows: false }
  return /is permitted|allow incoming/i.test(rule) ? { name, allows: true } : { name }
}
