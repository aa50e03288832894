import { existsSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import unocss from '@unocss/vite'
import vue from '@vitejs/plugin-vue'
import { build, defineConfig, type InlineConfig, type Plugin, type UserConfig } from 'vite'
import { helpPages } from './packaging/help/help-pages.ts'
import { consoleChunks } from './packaging/pages/console-chunks.ts'
import { notePackages } from './packaging/licences/note-packages.ts'
import { isBuildInput } from './scripts/build-inputs.mjs'
import { procedureGroups } from './shared/console/procedure-groups.ts'
import { blurFolder, blurWorker } from './shared/media/room-page.ts'
import styles from './uno.config.ts'

const root = import.meta.dirname
const at = (path: string) => join(root, path)

/** Shortens the name of a chunk or style that several pages share: it contains all their names, which no archive has room for. */
const shortName = (name: string): string => name.split('~')[0] ?? name

/** Programs of Node and Electron's main process: file in `dist` without its ending, and source. */
const nodeEntries = {
  'server/headless': 'server/bin/headless.ts',
  'server/media-node': 'server/bin/media-node.ts',
  'main/main': 'main/main.ts',
}
const pageEntry = 'renderer/console/index.html'
const preloadEntry = 'main/preload.ts'

/**
 * Imports that stay outside the bundles: Electron itself, and packages that load a native binary of their own. `bufferutil` and
 * `utf-8-validate` are optional natives that ws does without, `pg-native` and `pg-cloudflare` those of pg.
 */
const external = ['electron', /^@?node-datachannel(\/|$)/, 'bufferutil', 'utf-8-validate', 'pg-native', 'pg-cloudflare']

const present = (entries: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(entries).flatMap(([name, path]) => (existsSync(at(path)) ? [[name, at(path)]] : [])),
  )

const target = 'node24'

/** Fails a build that reads a file of the project whose change would not make it stale. */
const knownInputs = (): Plugin => {
  let publicDir = ''
  return {
    name: 'known-inputs',
    apply: 'build',
    configResolved: (config) => {
      publicDir = config.publicDir
    },
    buildEnd() {
      const read = [...this.getModuleIds(), publicDir].map((id) => id.replace(/\?.*$/, ''))
      const unknown = read.filter(
        (path) => path.startsWith(root) && !path.includes('/node_modules/') && !isBuildInput(root, path),
      )
      if (unknown.length > 0) this.error(`scripts/build-inputs.mjs lacks ${unknown.join(', ')}`)
    },
  }
}

/** Compiled in, not looked up at run time. */
const define = {
  __VUE_OPTIONS_API__: 'true',
  __VUE_PROD_DEVTOOLS__: 'false',
  __INTLIFY_JIT_COMPILATION__: 'true',
  __INTLIFY_PROD_DEVTOOLS__: 'false',
}

/**
 * In every page `zod` is `renderer/kit/zod.ts`: it is set up before any schema is made, in whichever chunk that stands. Otherwise zod tries `new Function`, which
 * the content security policy refuses and the browser reports.
 */
const zodWithoutEval: Plugin = {
  name: 'zod-without-eval',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'client',
  resolveId: (source, importer) =>
    source === 'zod' && importer !== at('renderer/kit/zod.ts') ? at('renderer/kit/zod.ts') : undefined,
}

/** Replaces `procedure-groups.ts` in the console by its value: otherwise the first load would contain the schemas of all procedures. */
const groupsAsData: Plugin = {
  name: 'groups-as-data',
  apply: 'build',
  applyToEnvironment: ({ name }) => name === 'client',
  load: (id) =>
    id.endsWith('/shared/console/procedure-groups.ts')
      ? `export const procedureGroups = ${JSON.stringify(procedureGroups)}`
      : undefined,
}

/**
 * `node:http` without its WebSocket client: an `import` reads every export of the module, and the getter of that one loads undici, 10 MB that no controller uses.
 * Names all that the program and its packages import.
 */
const leanHttp: Plugin = {
  name: 'lean-http',
  enforce: 'pre',
  applyToEnvironment: ({ name }) => name === 'node',
  resolveId: (source) => (/^(node:)?http$/.test(source) ? '\0lean-http' : undefined),
  load: (id) =>
    id === '\0lean-http'
      ? `const http = process.getBuiltinModule('node:http')
export default http
export const { Agent, ClientRequest, IncomingMessage, METHODS, OutgoingMessage, STATUS_CODES, Server, ServerResponse, createServer, get, globalAgent, maxHeaderSize, request, validateHeaderName, validateHeaderValue } = http`
      : undefined,
}

/** Makes `virtual:uno.css` of the utilities that a page's templates use. */
export const utilities = (): Plugin[] =>
  unocss({ ...styles, configFile: false, inspector: false }).map((plugin) => ({
    ...plugin,
    applyToEnvironment: ({ name }) => name === 'client',
  }))

const blurPackage = at('node_modules/@twilio/video-processors/dist/build')
const blurNames = [
  blurWorker,
  'selfie_segmentation_landscape.tflite',
  'tflite-1-0-0.js',
  'tflite-1-0-0.wasm',
  'tflite-simd-1-0-0.js',
  'tflite-simd-1-0-0.wasm',
]

/** Model, programs and worker of the background blur: its library asks for them by name, in one folder. */
const blurFiles: Plugin = {
  name: 'blur-files',
  buildStart() {
    if (this.environment.mode !== 'build') return
    for (const name of blurNames)
      this.emitFile({ type: 'asset', fileName: `${blurFolder}${name}`, source: readFileSync(join(blurPackage, name)) })
  },
  configureServer({ config, middlewares }) {
    middlewares.use((request, response, next) => {
      const name = request.url?.slice(`${config.base}${blurFolder}`.length) ?? ''
      if (request.url !== `${config.base}${blurFolder}${name}` || !blurNames.includes(name)) return next()
      const type = { js: 'text/javascript', wasm: 'application/wasm' }[name.replace(/^.*\./, '')]
      response.setHeader('Content-Type', type ?? 'application/octet-stream')
      response.end(readFileSync(join(blurPackage, name)))
    })
  },
}

/** The page that nodes serve to people. Its root is its own folder, so that its index.html is at the top of what is served. */
export const roomPage: InlineConfig = {
  configFile: false,
  logLevel: 'warn',
  root: at('renderer/room-page'),
  base: './',
  // Icons of the installed page, which its manifest names.
  publicDir: at('assets/icons'),
  plugins: [zodWithoutEval, utilities(), vue(), blurFiles, knownInputs(), notePackages(at('dist'), 'room-page')],
  define: { ...define, __VUE_OPTIONS_API__: 'false' },
  build: {
    outDir: at('dist/room-page'),
    emptyOutDir: true,
    // Phones that are some years old join, too.
    target: ['chrome114', 'firefox125', 'safari17'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
}

/** The page that plays live streams and recordings, for people without any other page of ours. */
const playerPage: InlineConfig = {
  configFile: false,
  logLevel: 'warn',
  root: at('renderer/player'),
  base: './',
  publicDir: false,
  plugins: [knownInputs(), notePackages(at('dist'), 'player')],
  build: {
    outDir: at('dist/player'),
    emptyOutDir: true,
    target: ['chrome114', 'firefox125', 'safari17'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
}

/** `vite build --app` makes everything: the page, the Node programs, the preload. An environment without its entry is left out. */
export default defineConfig({
  root: at('renderer/console'),
  base: './',
  publicDir: false,
  plugins: [
    zodWithoutEval,
    groupsAsData,
    leanHttp,
    helpPages(root),
    utilities(),
    vue(),
    knownInputs(),
    notePackages(at('dist')),
  ],
  // pg asks for it by require(), and would be given its other half, the one for import.
  resolve: {
    alias: [
      { find: /^pg-pool$/, replacement: at('node_modules/pg-pool/index.js') },
      // yazl asks for it by require(), like pg.
      { find: /^buffer-crc32$/, replacement: at('node_modules/buffer-crc32/dist/index.cjs') },
      // Koa's packages name two versions of this list: the newer one serves both.
      { find: /^mime-db$/, replacement: at('node_modules/mime-db/index.js') },
    ],
  },
  // Large lists are read faster than compiled.
  json: { stringify: true },
  // The runtime-only halves: no compiler in the page, so that its content security policy needs no 'unsafe-eval'.
  define,
  environments: {
    client: {
      build: {
        outDir: at('dist/renderer'),
        emptyOutDir: true,
        target: 'chrome120',
        // An asset in a data: URL would need a wider content security policy.
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 1200,
        rolldownOptions: {
          input: at(pageEntry),
          checks: { bundlerTimings: false },
          output: {
            codeSplitting: { groups: consoleChunks(at('renderer/console/pages/OverviewPage.vue')) },
            chunkFileNames: ({ name }) => `assets/${shortName(name)}-[hash].js`,
            assetFileNames: ({ names: [name = '[name]'] }) => `assets/${shortName(parse(name).name)}-[hash][extname]`,
          },
        },
      },
    },
    node: {
      consumer: 'server',
      resolve: {
        noExternal: true,
        external: ['electron', 'node-datachannel'],
        conditions: ['node', 'import', 'default'],
      },
      build: {
        outDir: at('dist'),
        emptyOutDir: false,
        ssr: true,
        target,
        minify: false,
        sourcemap: true,
        rolldownOptions: {
          platform: 'node',
          // depd, which Koa uses, evaluates a string of its own.
          checks: { eval: false },
          input: present(nodeEntries),
          external,
          output: {
            format: 'es',
            entryFileNames: '[name].js',
            chunkFileNames: 'server/chunks/[name]-[hash].js',
            // A file with one letter beyond Latin-1 takes twice its size in memory. Comments stand in the sources.
            charset: 'ascii',
            comments: { legal: true, annotation: true, jsdoc: false },
            // Both programs use it, but a controller only when it first reads recordings: it takes 70 ms and 24 MB.
            codeSplitting: { groups: [{ name: 'mediabunny', test: /node_modules[\\/]mediabunny/ }] },
          },
        },
      },
    },
    preload: {
      consumer: 'server',
      resolve: { noExternal: true, external: ['electron'] },
      build: {
        outDir: at('dist/main'),
        emptyOutDir: false,
        ssr: true,
        target,
        minify: false,
        rolldownOptions: {
          platform: 'browser',
          input: { preload: at(preloadEntry) },
          external: ['electron'],
          // A sandboxed preload is one CommonJS file.
          output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      const { client, node, preload } = builder.environments
      if (node && Object.keys(present(nodeEntries)).length > 0) await builder.build(node)
      if (preload && existsSync(at(preloadEntry))) await builder.build(preload)
      if (client && existsSync(at(pageEntry)) && existsSync(at('renderer/console/main.ts'))) await builder.build(client)
      await build(roomPage)
      await build(playerPage)
    },
  },
} satisfies UserConfig)
