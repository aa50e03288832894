import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Tells whether a root folder can be made and entered here: on Debian, as root, with namespaces. */
export function canMakeRoots(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64' || process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['-mn', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' })
    execFileSync('dpkg-query', ['-W', 'adduser'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Package entry of dpkg's status file. */
interface Installed {
  essential: boolean
  /** Names of its dependencies; of alternatives, the first comes first. */
  needs: string[][]
}

const query = (format: string): string =>
  execFileSync('dpkg-query', ['-W', '-f', format], { encoding: 'utf8', maxBuffer: 2 ** 26 })

function installed(): Map<string, Installed> {
  const found = new Map<string, Installed>()
  for (const line of query('${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\n').split('\n')) {
    const [name = '', essential, needs = ''] = line.split('\t')
    const groups = needs.split(',').map((group) => group.split('|').map((one) => one.trim().replace(/[ :(].*$/, '')))
    if (name !== '') found.set(name, { essential: essential === 'yes', needs: groups })
  }
  return found
}

/** Lists the essential packages and `wanted`, with all dependencies: a minimal Debian and nothing else. */
function closure(packages: Map<string, Installed>, wanted: readonly string[]): string[] {
  const taken = new Set<string>()
  const take = (name: string): void => {
    const entry = packages.get(name)
    if (entry === undefined || taken.has(name)) return
    taken.add(name)
    for (const group of entry.needs) {
      const first = group.find((one) => packages.has(one))
      if (first !== undefined) take(first)
    }
  }
  for (const [name, { essential }] of packages) if (essential) take(name)
  for (const name of wanted) take(name)
  return [...taken]
}

/** Files made by maintainer scripts, which no package lists. */
const madeByScripts = ['account', 'auth', 'password', 'session', 'session-noninteractive']
  .map((name) => `/etc/pam.d/common-${name}`)
  .concat(['/etc/alternatives/awk', '/etc/ld.so.cache'])

/** Files that nothing needs. */
const unread = /^\/usr\/share\/(doc|doc-base|info|locale|man|lintian|bash-completion|zoneinfo)\//

/**
 * Makes a root folder with a minimal Debian from this machine's installed packages: their files, and dpkg's status file of
 * just them. It has no Node, npm, git or systemd. Results of maintainer scripts are copied from here, or made again for accounts.
 */
export function makeDebianRoot(root: string, more: readonly string[] = []): void {
  const packages = installed()
  const names = closure(packages, ['adduser', 'mawk', 'libc6', 'libgcc-s1', 'libstdc++6', ...more])
  for (const folder of ['dev', 'proc', 'tmp', 'run', 'etc', 'usr', 'var/lib/dpkg/info', 'var/lib/dpkg/updates'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const folder of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']) {
    mkdirSync(join(root, 'usr', folder), { recursive: true })
    symlinkSync(`usr/${folder}`, join(root, folder))
  }
  const files = execFileSync('dpkg-query', ['-L', ...names], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const list = files
    .split('\n')
    .filter((file) => file.startsWith('/') && file !== '/.' && !unread.test(file))
    .concat(madeByScripts)
  const copy = `tar -C / --no-recursion --ignore-failed-read -cf - -T - 2>/dev/null | tar -C '${root}' --keep-directory-symlink -xpf -`
  execFileSync('sh', ['-c', copy], { input: [...new Set(list)].map((file) => file.slice(1)).join('\n') })

  const status = execFileSync('dpkg-query', ['-s', ...names], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  writeFileSync(join(root, 'var/lib/dpkg/status'), `${status.trim()}\n\n`)
  const info = '/var/lib/dpkg/info'
  const wanted = new Set(names)
  for (const file of readdirSync(info)) {
    const [, name = ''] = /^([^:]+)(?::\w+)?\.(?:list|md5sums|conffiles)$/.exec(file) ?? []
    if (wanted.has(name)) copyFileSync(join(info, file), join(root, info, file))
  }
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg'), 'force-unsafe-io\nno-debsig\n')
  for (const kind of ['passwd', 'group'])
    execFileSync('cp', [join(root, `usr/share/base-passwd/${kind}.master`), join(root, 'etc', kind)])
  execFileSync('mknod', ['-m', '666', join(root, 'dev/null'), 'c', '1', '3'])
  for (const command of ['pwconv', 'grpconv']) inRoot(root, [command])
}

/** PATH in the root folder. */
export const pathInRoot = '/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Makes the arguments of `unshare` that run a command in the root folder: with only a loopback network, and temporary mounts.
 * @param setpriv arguments of setpriv(1), to run it as another user
 */
export function enterRoot(root: string, command: readonly string[], setpriv: readonly string[] = []): string[] {
  const inside = setpriv.length === 0 ? command : ['/usr/bin/setpriv', ...setpriv, ...command]
  const enter = 'ip link set lo up && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
  return ['-mn', 'sh', '-c', enter, root, ...inside]
}

/** Runs a command in the root folder as root and returns stdout and stderr. @throws Error with them if it fails */
export function inRoot(root: string, command: readonly string[]): string {
  const [first = '', ...rest] = command
  const env = { PATH: pathInRoot, LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' }
  const whole = ['sh', '-c', 'exec "$0" "$@" 2>&1', first, ...rest]
  try {
    return execFileSync('unshare', enterRoot(root, whole), { encoding: 'utf8', env, timeout: 60_000 })
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(`${command.join(' ')}:\n${said}`, { cause: error })
  }
}
