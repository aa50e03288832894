import { app, type Session, shell, type WebContents, type WebPreferences } from 'electron'
import { origin } from './app-scheme.ts'
import { sandboxFor, type SandboxState } from './sandbox.ts'

/**
 * Returns the web preferences of every window: no Node.js in the page, and a JavaScript context separate from the
 * preload's.
 * @param partition name of the session's partition; default: the operator's session
 */
export function secureWebPreferences(preload: string, partition?: string): WebPreferences {
  return {
    preload,
    ...(partition !== undefined && { partition }),
    sandbox: true,
    contextIsolation: true,
    webSecurity: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webviewTag: false,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    navigateOnDragDrop: false,
    spellcheck: false,
    devTools: !app.isPackaged,
  }
}

/**
 * Sandboxes every renderer, and guards every web contents from its creation. Must be called before the app is ready.
 * @param notOpened called if a page could not be opened in the operator's browser
 * @returns state of the sandbox
 */
export function hardenApp(notOpened: (error: unknown) => void): SandboxState {
  const { platform, argv } = process
  const sandbox = sandboxFor({ platform, argv, uid: process.getuid?.(), isPackaged: app.isPackaged })
  if (sandbox === 'on') app.enableSandbox()
  app.on('web-contents-created', (_event, contents) => guard(contents, notOpened))
  return sandbox
}

/**
 * Permissions of the console's page: copying text, and keeping the screen on for a wall. The network permissions are
 * for previews: the page connects to MCU nodes on this machine and in the local network, for which Chromium may require
 * a permission (Local Network Access). The content security policy restricts all other connections to the page's own
 * origin.
 */
const allowed: ReadonlySet<string> = new Set([
  'clipboard-sanitized-write',
  'screen-wake-lock',
  'local-network-access',
  'local-network',
  'loopback-network',
])

/**
 * Denies all permissions except `allowed`, and access to all devices, in the sessions of the app's pages. Must be
 * called when the app is ready.
 */
export function denyPermissions(sessions: readonly { session: Session }[]): void {
  const allows = (permission: string, url: string): boolean => allowed.has(permission) && isOurs(url)
  for (const { session } of sessions) {
    session.setPermissionRequestHandler((_contents, permission, answer, { requestingUrl }) =>
      answer(allows(permission, requestingUrl)),
    )
    // Chromium first calls the check handler for most permissions. If the check denies, Chromium calls the request
    // handler.
    session.setPermissionCheckHandler((_contents, permission, requestingOrigin) => allows(permission, requestingOrigin))
    session.setDevicePermissionHandler(() => false)
  }
}

/** Whether a URL belongs to the app's page. */
export function isOurs(url: string): boolean {
  return url === origin || url.startsWith(`${origin}/`)
}

function guard(contents: WebContents, notOpened: (error: unknown) => void): void {
  const stay = (event: { preventDefault: () => void; url: string }): void => {
    if (!isOurs(event.url)) event.preventDefault()
  }
  contents.on('will-navigate', stay)
  contents.on('will-frame-navigate', stay)
  contents.on('will-redirect', stay)
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    openOutside(url)?.catch(notOpened)
    return { action: 'deny' }
  })
}

/**
 * URL of the newest room page that the controller issued to the operator. Its scheme is http on a site without a
 * certificate.
 */
let roomPage = ''

/** Lets the console open a room page in the browser, once. @param url a URL issued by the controller */
export function allowRoomPage(url: string): void {
  roomPage = url
}

/** Opens a web page in the operator's browser. Returns undefined for other schemes, which could start programs. */
function openOutside(url: string): Promise<void> | undefined {
  const protocol = URL.parse(url)?.protocol
  if (protocol !== 'https:' && !(protocol === 'http:' && url === roomPage)) return undefined
  roomPage = ''
  return shell.openExternal(url)
}
