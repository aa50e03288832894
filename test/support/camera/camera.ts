import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Options of the test camera; see camera.py. */
export interface CameraOptions {
  host?: string
  port?: number
  auth?: 'none' | 'basic' | 'digest'
  user?: string
  password?: string
  /** Session timeout of RTSP, in seconds. */
  timeout?: number
  /** PEM file with certificate and key. */
  tls?: string
  width?: number
  height?: number
  fps?: number
  kbps?: number
  /** Frames between key frames. */
  gop?: number
  'config-interval'?: number
  /** Maximum size of an RTP packet of video, in bytes. */
  mtu?: number
  /** Pattern of GStreamer's videotestsrc; default: a moving ball. */
  pattern?: 'ball' | 'smpte' | 'snow'
}

/** A running camera: GStreamer's RTSP server in a process of its own. */
export interface Camera extends AsyncDisposable {
  port: number
  process: ChildProcess
  /** Address of one of its mounts, without credentials. */
  url(path: string): string
  /** Freezes or resumes the process. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Kills the process without a TEARDOWN. */
  kill(): Promise<void>
}

const script = fileURLToPath(new URL('./camera.py', import.meta.url))

const packages =
  'python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav'

let isCameraThere = false

/** Checks once per process. @throws Error with the packages to install if this machine lacks any of them */
function assertCamera(): void {
  if (isCameraThere) return
  try {
    execFileSync('/usr/bin/python3', ['-c', "import gi; gi.require_version('GstRtspServer', '1.0')"], {
      stdio: 'ignore',
    })
  } catch {
    throw new Error(`GStreamer's RTSP server is missing: apt-get install ${packages}`)
  }
  isCameraThere = true
}

/** Starts a camera and waits until it listens. */
export async function startCamera(options: CameraOptions = {}): Promise<Camera> {
  assertCamera()
  const values = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const child = spawn('/usr/bin/python3', [script, ...values], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the camera ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ready = /^ready (\d+)$/.exec(line)
      if (ready !== null) resolve(Number(ready[1]))
    })
  })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await exited
  }
  const scheme = options.tls === undefined ? 'rtsp' : 'rtsps'
  const host = options.host?.includes(':') ? `[${options.host}]` : (options.host ?? '127.0.0.1')
  return {
    port,
    process: child,
    url: (path) => `${scheme}://${host}:${port}${path}`,
    signal: (name) => child.kill(name),
    kill,
    [Symbol.asyncDispose]: kill,
  }
}
