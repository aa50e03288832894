import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** A process in the system's list. */
export interface ListedProcess {
  pid: number
  parent: number
  command: string
}

const run = promisify(execFile)

/** Lists all descendants of a process, children first. */
export async function descendantsOf(pid: number): Promise<ListedProcess[]> {
  const all = await listProcesses()
  const below = new Set([pid])
  const found: ListedProcess[] = []
  for (let grew = true; grew; ) {
    grew = false
    for (const one of all) {
      if (below.has(one.pid) || !below.has(one.parent)) continue
      below.add(one.pid)
      found.push(one)
      grew = true
    }
  }
  return found
}

async function listProcesses(): Promise<ListedProcess[]> {
  if (process.platform === 'linux') return listOfProc()
  if (process.platform === 'win32') return listOfWindows()
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { maxBuffer: 16 * 1024 * 1024 })
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}

/** proc(5): the parent is the second field after the name, which may contain anything. */
async function listOfProc(): Promise<ListedProcess[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    names.map(async (name) => {
      try {
        const [stat, command] = await Promise.all([
          readFile(`/proc/${name}/stat`, 'utf8'),
          readFile(`/proc/${name}/cmdline`, 'utf8'),
        ])
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        return { pid: Number(name), parent, command: command.replaceAll('\0', ' ').trim() }
      } catch {
        // It ended meanwhile.
        return undefined
      }
    }),
  )
  return found.filter((one) => one !== undefined)
}

async function listOfWindows(): Promise<ListedProcess[]> {
  const query = 'Get-CimInstance Win32_Process | Select-Object ProcessId,ParentProcessId,CommandLine | ConvertTo-Json'
  const options = { maxBuffer: 64 * 1024 * 1024, windowsHide: true }
  const { stdout } = await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', query], options)
  const listed = JSON.parse(stdout) as { ProcessId: number; ParentProcessId: number; CommandLine: string | null }[]
  return listed.map(({ ProcessId, ParentProcessId, CommandLine }) => ({
    pid: ProcessId,
    parent: ParentProcessId,
    command: CommandLine ?? '',
  }))
}
