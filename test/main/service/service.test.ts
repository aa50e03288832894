import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { headlessFlags } from '../../../main/start-mode.ts'
import { carryOut, CommandFailedError } from '../../../main/service/carry-out.ts'
import { macService } from '../../../main/service/mac-service.ts'
import { serviceId, windowsService } from '../../../main/service/windows-service.ts'
import { installService, removeService, type ServiceMachine } from '../../../main/service/service-command.ts'
import type { Command, ServiceStep } from '../../../main/service/service-plan.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})

const commands = (steps: readonly ServiceStep[]): string[] =>
  steps.flatMap((step) => (step.kind === 'run' ? [step.command.join(' ')] : []))
const contents = (steps: readonly ServiceStep[]): string =>
  steps.flatMap((step) => (step.kind === 'file' ? [step.content] : [])).join('')
/** Reads a file with Python's own parsers, as JSON. */
const parsed = (script: string, input: string): unknown =>
  JSON.parse(execFileSync('python3', ['-c', script], { input, encoding: 'utf8' }))

const request = {
  program: '/Applications/Roomdesk.app/Contents/MacOS/Roomdesk',
  flags: ['--host=0.0.0.0', '--site=/etc/a & b.json'],
  dataFolder: undefined,
}

describe('the service of a Mac', () => {
  const plan = macService(request, 'ann')

  test('is a LaunchDaemon that starts with the machine as its user, again after a failure, and gets 20 s to end', () => {
    const read = 'import plistlib,sys,json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
    expect(parsed(read, contents(plan.install))).toEqual({
      Label: 'desk.roomdesk.Roomdesk',
      ProgramArguments: [
        request.program,
        '--headless',
        '--service',
        '--user-data-dir=/Library/Application Support/Roomdesk/app',
        '--data-dir=/Library/Application Support/Roomdesk/site',
        '--host=0.0.0.0',
        '--site=/etc/a & b.json',
      ],
      UserName: 'ann',
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ExitTimeOut: 20,
      ProcessType: 'Interactive',
      Umask: 0o77,
      SoftResourceLimits: { NumberOfFiles: 65_536 },
      StandardOutPath: '/dev/null',
      StandardErrorPath: '/dev/null',
    })
  })

  test('is given to launchd once its folders belong to that user', () => {
    const base = '/Library/Application Support/Roomdesk'
    const file = '/Library/LaunchDaemons/desk.roomdesk.Roomdesk.plist'
    expect(commands(plan.install)).toEqual([
      `/usr/sbin/chown -R ann ${base}/site ${base}/app ${base}/logs`,
      '/bin/launchctl bootout system/desk.roomdesk.Roomdesk',
      '/bin/launchctl enable system/desk.roomdesk.Roomdesk',
      `/bin/launchctl bootstrap system ${file}`,
    ])
    expect(commands(plan.remove)).toEqual(['/bin/launchctl bootout system/desk.roomdesk.Roomdesk'])
    expect(plan.remove.at(-1)).toEqual({ kind: 'remove', path: file })
  })
})

describe('the service of Windows', () => {
  const program = 'C:\\Program Files\\Roomdesk\\Roomdesk.exe'
  const facts = {
    programData: 'C:\\ProgramData',
    systemRoot: 'C:\\Windows',
    wrapper: 'C:\\Program Files\\Roomdesk\\resources\\service',
  }
  const plan = windowsService({ ...request, program, flags: ['--ffmpeg=C:\\My "tools"\\'] }, facts)
  const base = 'C:\\ProgramData\\Roomdesk'

  test('is started and ended in order by the wrapper, which restarts what fails and bounds its log', () => {
    const read = `import sys,json,xml.etree.ElementTree as t
print(json.dumps([[e.tag,e.text or e.attrib] for e in t.fromstring(sys.stdin.read())]))`
    const elements = parsed(read, contents(plan.install)) as [string, unknown][]
    const all = (name: string): unknown[] => elements.flatMap(([tag, value]) => (tag === name ? [value] : []))
    expect(all('id')).toEqual(['Roomdesk'])
    expect(all('executable')).toEqual([program])
    expect(all('startargument')).toEqual([
      '--headless',
      '--service',
      `--user-data-dir=${base}\\app`,
      `--data-dir=${base}\\site`,
      '"--ffmpeg=C:\\My \\"tools\\"\\\\"',
    ])
    // WinSW adds plain arguments to those of the program that stops the service, too.
    expect(all('argument')).toEqual([])
    expect(all('stopexecutable')).toEqual([program])
    expect(all('stopargument')).toEqual(['--quit', `--user-data-dir=${base}\\app`])
    expect(all('onfailure')).toEqual([{ action: 'restart', delay: '2 sec' }])
    expect(elements.find(([tag]) => tag === 'log')).toBeDefined()
  })

  test('runs as an account of its own, which may change its data and not its program', () => {
    const wrapper = `${base}\\service\\roomdesk-service.exe`
    const account = 'NT SERVICE\\Roomdesk'
    const icacls = 'C:\\Windows\\System32\\icacls.exe'
    const names = ['service', 'site', 'app', 'logs'].map((name) => `${base}\\${name}`)
    expect(commands(plan.install).slice(1)).toEqual([
      `${wrapper} install`,
      `C:\\Windows\\System32\\sc.exe config Roomdesk obj= ${account}`,
      ...[base, ...names].map((path) => `${icacls} ${path} /setowner *S-1-5-32-544 /L /Q`),
      ...names.map((path) => `${icacls} ${path} /reset /L /Q`),
      `${icacls} ${base}\\service\\* /reset /T /L /Q`,
      `${icacls} ${base} /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F ${account}:(OI)(CI)RX`,
      ...['site', 'app', 'logs'].map((name) => `${icacls} ${base}\\${name} /grant ${account}:(OI)(CI)M`),
      'C:\\Windows\\System32\\netsh.exe advfirewall firewall delete rule name=Roomdesk',
      `C:\\Windows\\System32\\netsh.exe advfirewall firewall add rule name=Roomdesk dir=in action=allow program=${program} profile=domain,private`,
      `${wrapper} start`,
    ])
    expect(plan.install).toContainEqual({ kind: 'copy', from: `${facts.wrapper}\\winsw.exe`, to: wrapper })
    expect(commands(plan.remove).slice(0, 2)).toEqual([`${wrapper} stop`, `${wrapper} uninstall`])
    expect(plan.remove.at(-1)).toEqual({ kind: 'remove', path: `${base}\\service` })
  })
})

describe('folders that another user could make in advance', () => {
  /** The script of PowerShell, decoded. */
  const scriptOf = (steps: readonly ServiceStep[]): string => {
    const [first] = steps
    const encoded = first?.kind === 'run' ? (first.command.at(-1) ?? '') : ''
    return Buffer.from(encoded, 'base64').toString('utf16le')
  }
  const facts = { programData: "C:\\Program'Data", systemRoot: 'C:\\Windows', wrapper: 'C:\\app' }
  const plan = windowsService(request, facts)

  test('are made for administrators alone before anything is written, and one of another user is refused', () => {
    const script = scriptOf(plan.install)
    // Owner, group and a protected list: the system and administrators, nobody by inheritance.
    expect(script).toContain("SetSecurityDescriptorSddlForm('O:BAG:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)')")
    for (const name of ['', '\\service', '\\site', '\\app', '\\logs'])
      expect(script).toContain(`'C:\\Program''Data\\Roomdesk${name}'`)
    expect(script.indexOf('CreateDirectory($folder, $security)')).toBeLessThan(script.indexOf('Assert-Own (Get-Item'))
    expect(script).toContain('ReparsePoint')
    expect(script).toContain(`$owners = @('S-1-5-18', 'S-1-5-32-544', '${serviceId('Roomdesk')}')`)
    // No other step makes a folder there.
    expect(plan.install.filter(({ kind }) => kind === 'folder')).toEqual([])
  })

  test('identify the service by the identifier that Windows gives its account', () => {
    // TrustedInstaller, as every Windows has it.
    expect(serviceId('TrustedInstaller')).toBe('S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464')
  })

  test('a refusal is a sentence, with what Windows said', async () => {
    const run = async (): Promise<void> => {
      throw new CommandFailedError('powershell.exe -EncodedCommand AAAA: C:\\x is a link.', 'C:\\x is a link.')
    }
    await expect(carryOut(plan.install, run)).rejects.toThrow(
      /^The folders of the service could not be made safe: .*install the service again\.\nC:\\x is a link\.$/,
    )
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a folder that another user made is refused on other systems, too',
    async () => {
      const taken = join(folder, 'taken')
      await mkdir(taken)
      await chown(taken, 12_345, 12_345)
      const steps: ServiceStep[] = [{ kind: 'folder', path: taken, mode: 0o755, mustBeOurs: true }]
      await expect(carryOut(steps)).rejects.toThrow('belongs to another user (uid 12345)')
    },
  )
})

describe('installing a service', () => {
  const ran: Command[] = []
  const machine = (change: Partial<ServiceMachine>): ServiceMachine => ({
    ...{
      platform: 'darwin',
      env: { SUDO_USER: 'ann' },
      uid: 0,
      program: request.program,
      isPackaged: true,
      resources: folder,
    },
    run: (command) => {
      ran.push(command)
      return Promise.resolve()
    },
    ...change,
  })
  const refuse = (): Promise<void> => Promise.reject(new Error('Access is denied.'))
  beforeEach(() => void (ran.length = 0))

  test.each<[string, Partial<ServiceMachine>, string[], string]>([
    ['on Linux', { platform: 'linux' }, [], 'roomdesk-server brings the service'],
    ['not installed', { isPackaged: false }, [], 'Only the installed app'],
    ['on a Mac without rights', { uid: 501 }, [], 'run this with sudo'],
    ['on a Mac as root itself', { env: {} }, [], 'never as root'],
    ['on Windows without rights', { platform: 'win32', run: refuse }, [], 'Run as administrator'],
    [
      'on Windows for one user',
      {
        platform: 'win32',
        program: 'C:\\Users\\Ann\\AppData\\Local\\Programs\\Roomdesk.exe',
        env: { USERPROFILE: 'c:\\users\\ann' },
      },
      [],
      'install it again for all users',
    ],
    ['with an unknown flag', {}, ['--colour=red'], '--colour'],
    ['with a password for all to read', {}, ['--store=postgres://a:secret@db/a'], '--store-password-file'],
  ])('%s, it says what to do and changes nothing', async (_where, change, flags, said) => {
    await expect(installService(flags, machine(change))).rejects.toThrow(said)
    expect(ran.filter(([program]) => !program.endsWith('fltmc.exe'))).toEqual([])
  })

  test('without one there is nothing to remove', async () => {
    expect(await removeService(machine({}))).toBe('No service of Roomdesk is installed.')
    expect(ran).toEqual([])
  })

  test('the flags of the app itself are not among those of the controller', () => {
    expect(headlessFlags(['--install-service', '--service', '--headless', '--host=::', '--no-sandbox'])).toEqual([
      '--host=::',
    ])
  })
})

test('steps are executed in their order, and a command that fails says what it wrote', async () => {
  const file = join(folder, 'made/service.txt')
  await carryOut([
    { kind: 'folder', path: join(folder, 'made'), mode: 0o700 },
    { kind: 'file', path: file, content: 'first', mode: 0o600 },
    { kind: 'copy', from: file, to: `${file}.copy` },
    { kind: 'run', command: ['/bin/sh', '-c', `echo second >> '${file}'`] },
    { kind: 'run', command: ['/bin/false'], optional: true },
  ])
  expect(await readFile(file, 'utf8')).toBe('firstsecond\n')
  expect(await readFile(`${file}.copy`, 'utf8')).toBe('first')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const failing: ServiceStep[] = [
    { kind: 'run', command: ['/bin/sh', '-c', 'echo denied >&2; exit 5'] },
    { kind: 'remove', path: file },
  ]
  await expect(carryOut(failing)).rejects.toThrow(/exit 5: denied$/)
  expect(existsSync(file)).toBe(true)
  await mkdir(join(folder, 'full'))
  await writeFile(join(folder, 'full/file'), '')
  await carryOut([{ kind: 'remove', path: join(folder, 'full') }])
  expect(existsSync(join(folder, 'full'))).toBe(false)
})
