import { once } from 'node:events'
import { createServer as createHttpServer, type Server } from 'node:http'
import { join } from 'node:path'
import { createLogger, createServer, type InlineConfig, type Logger, type Plugin, type ProxyOptions } from 'vite'
import { consoleRoutes } from '../shared/authorization/console-routes.ts'
import { nodeRoutes } from '../shared/authorization/node-routes.ts'
import { splitRoute, type RouteName } from '../shared/authorization/route.ts'
import { errorCode } from '../shared/error-code.ts'
import { manifestFile, roomPagePath } from '../shared/media/room-page.ts'
import consolePage, { roomPage } from '../vite.config.ts'

const root = join(import.meta.dirname, '..')
const host = '127.0.0.1'
/** Ports of the pages. If one is in use, Vite takes the next free port. */
const pagePorts = { console: 5173, roomPage: 5273 }

/** Vite's servers of both pages, which pass all other requests on to the controller and its media node. */
export interface PageServers {
  /** URL of the console. */
  console: string
  /** Host and port of the room page, which is the address of the node in links. */
  node: string
  close: () => Promise<void>
}

/**
 * Starts Vite for the console and the room page, on loopback only.
 * @param ports of the controller's console and of its media node
 */
export async function startPageServers(ports: { console: number; node: number }): Promise<PageServers> {
  const page = await serve('console', {
    ...consolePage,
    // Not `configFile`: Vite would restart when shared/ changes, and leave its WebSocket proxy on the HTTP server twice.
    configFile: false,
    server: { port: pagePorts.console, proxy: proxyOf(consoleRoutes, 'GET /*', ports.console) },
  })
  const manifest = `^${roomPagePath}${manifestFile.replaceAll('.', '\\.')}`
  const room = await serve('room-page', {
    ...roomPage,
    base: roomPagePath,
    server: {
      port: pagePorts.roomPage,
      proxy: { ...proxyOf(nodeRoutes, 'GET /room/*', ports.node), [manifest]: target(ports.node) },
    },
  })
  return {
    console: `http://${host}:${page.port}`,
    node: `${host}:${room.port}`,
    close: async () => {
      await Promise.all([page.close(), room.close()])
    },
  }
}

/**
 * Starts Vite behind an HTTP server of this program: a server of its own would end the process at a signal, before the
 * controller has stopped.
 */
async function serve(name: string, config: InlineConfig): Promise<{ port: number; close: () => Promise<void> }> {
  const http = createHttpServer()
  const vite = await createServer({
    ...config,
    plugins: [...(config.plugins ?? []), sharedIcon],
    // Each server optimizes its own set of packages.
    cacheDir: join(root, 'node_modules/.cache/vite', name),
    customLogger: withoutProxyErrors(createLogger('info', { allowClearScreen: false })),
    server: {
      ...config.server,
      middlewareMode: { server: http },
      hmr: { server: http },
      fs: { allow: [root] },
      warmup: { clientFiles: ['./main.ts'] },
    },
  })
  http.on('request', vite.middlewares)
  const port = await listen(http, config.server?.port ?? 0)
  return {
    port,
    close: async () => {
      await vite.close()
      http.closeAllConnections()
      http.close()
    },
  }
}

/** Listens at the first free port from `port` on. @returns the port */
async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
    return port
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error
    return await listen(server, port + 1)
  }
}

/** Icon of both pages, which is outside of their folders. A build copies it. */
const sharedIcon: Plugin = {
  name: 'shared-icon',
  transformIndexHtml: (html) => html.replace('../kit/', `/@fs/${join(root, 'renderer/kit/').replace(/^\//, '')}`),
}

/** While the controller restarts, each request of an open page would log an error with a stack. */
function withoutProxyErrors(logger: Logger): Logger {
  return {
    ...logger,
    error: (message, options) => {
      if (!/proxy (?:socket )?error/.test(message)) logger.error(message, options)
    },
  }
}

const target = (port: number): ProxyOptions => ({
  target: `http://${host}:${port}`,
  ws: true,
  // The controller compares Origin with Host.
  changeOrigin: false,
})

/** Passes on all routes of a port except `page`, whose files Vite serves. */
function proxyOf(routes: Readonly<Record<string, unknown>>, page: string, port: number): Record<string, ProxyOptions> {
  const passedOn = Object.keys(routes).filter((route): route is RouteName => route !== page)
  return Object.fromEntries(
    passedOn.map((route) => [`^${splitRoute(route).path.replaceAll(/:\w+/g, '[^/?]+')}(?:\\?.*)?$`, target(port)]),
  )
}
