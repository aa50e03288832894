import { dirname, relative, resolve, sep } from 'node:path'

/** Folders of `server/` from the ground up: each may import those before it. */
const serverLayers = [
  ['schedule', 'gate'],
  ['edge', 'store'],
  ['access', 'capabilities', 'nodes', 'observe'],
  ['rooms', 'http', 'diagnostics'],
  ['devices', 'recordings', 'event-log', 'readiness', 'lab'],
  ['apis', 'console'],
  ['controller'],
  ['cluster'],
  ['bin'],
]
/** Folders of the domain, below the console: what both use is declared in shared/domain/. */
const domain = ['store', 'nodes', 'media', 'rooms', 'devices', 'recordings']
/** The program of the embedded node: a process of its own, which only its entry imports. */
const serverPrograms = ['media']

/** Folders of `nodes/` from the ground up; drivers stand side by side and do not import each other. */
const nodeLayers = [['port'], ['secrets'], ['embedded', 'simulated', 'janus'], ['pool'], ['gateway']]

/** Folders of `renderer/` from the ground up: two apps over one kit. */
const rendererLayers = [['kit'], ['console', 'room-page', 'player']]

/** Top-level folders that each top-level folder may import, besides itself. */
const allowed = {
  shared: ['texts'],
  server: ['shared', 'texts'],
  main: ['server', 'shared', 'texts'],
  renderer: ['shared', 'assets', 'texts'],
  // The client kit is delivered alone.
  clients: [],
}
/** Folders of `server/` that hold folders only, with the files that may lie loose in them. */
const foldersOfFolders = new Map([
  ['server', []],
  ['server/nodes', []],
  ['server/nodes/janus', ['janus-node.ts', 'janus-nodes.ts']],
])
/** Packages that a folder may not import. */
const forbiddenPackages = {
  shared: /^(?!(zod|lru-cache|temporal-polyfill)($|\/))/,
  server: /^(electron|vue|vue-router|vue-i18n|element-plus|uplot)($|\/)/,
  main: /^(vue|vue-router|vue-i18n|element-plus|uplot)($|\/)/,
  renderer: /^(electron($|\/)|node:)/,
  clients: /./,
}

const layerOf = (layers, folder) => layers.findIndex((layer) => layer.includes(folder))

/** Says why a folder may not import another of the same parent, or undefined. */
function layerRefusal(layers, parent, folder, otherFolder) {
  if (folder === otherFolder) return undefined
  const [mine, other] = [layerOf(layers, folder), layerOf(layers, otherFolder)]
  if (mine === -1) return `${parent}/${folder}/ has no place in the layers; give it one in eslint-rules/layers.js.`
  if (other === -1)
    return `${parent}/${otherFolder}/ has no place in the layers; give it one in eslint-rules/layers.js.`
  return other < mine
    ? undefined
    : `${parent}/${folder}/ may not import from ${parent}/${otherFolder}/, which is not below it.`
}

function serverRefusal(from, to) {
  const [, folder] = from
  const [, otherFolder] = to
  if (serverPrograms.includes(folder) && folder !== otherFolder) return `server/${folder}/ may import shared/ only.`
  if (serverPrograms.includes(otherFolder) && folder !== otherFolder) {
    return folder === 'bin' ? undefined : `server/${otherFolder}/ is a program of its own: only bin/ imports it.`
  }
  if (folder === 'nodes' && otherFolder === 'nodes') return layerRefusal(nodeLayers, 'server/nodes', from[2], to[2])
  return layerRefusal(serverLayers, 'server', folder, otherFolder)
}

/** Whether a file is of the part of `shared/` that programs with a disk share. */
function isDisk([top, folder]) {
  return top === 'shared' && folder === 'files'
}

/** Says why `from` may not import `to` (both split into path segments), or undefined. */
function refusal(from, to) {
  const [top] = from
  const [otherTop] = to
  if (!(top in allowed)) return undefined
  // The program reads its own version from its package.
  if (from.join('/') === 'server/bin/version.ts' && to.join('/') === 'package.json') return undefined
  if (otherTop === 'clients' && top !== 'clients')
    return top === 'server' && from[1] === 'lab'
      ? undefined
      : 'Only server/lab/ is a client of the APIs and may import clients/.'
  if (top === 'renderer' && isDisk(to)) return 'Pages have no disk: shared/files/ is for programs.'
  if (top === 'server' && domain.includes(from[1]) && to[0] === 'shared' && to[1] === 'console')
    return `server/${from[1]}/ is below the console: import shared/domain/, or move the declaration there.`
  if (from[0] === 'shared' && from[1] === 'domain' && to[1] === 'console')
    return 'shared/domain/ is below shared/console/.'
  if (top !== otherTop) {
    return allowed[top].includes(otherTop) ? undefined : `${top}/ may not import from ${otherTop}/.`
  }
  if (top === 'server') return serverRefusal(from, to)
  if (top === 'shared' && isDisk(to) && !isDisk(from))
    return 'Only shared/files/ uses the disk: pages read the rest of shared/.'
  if (top === 'renderer' && from.length > 2) return layerRefusal(rendererLayers, 'renderer', from[1], to[1])
  return undefined
}

/** Holds the arrows between the folders, and that no file of `server/` lies outside of one. */
export const layers = {
  meta: { type: 'problem', schema: [], docs: { description: 'hold the arrows between the folders' } },
  create(context) {
    const segments = (path) => relative(context.cwd, path).split(sep)
    const from = segments(context.filename)
    const check = (node) => {
      const source = node.source?.value
      if (typeof source !== 'string') return
      const message = source.startsWith('.')
        ? refusal(from, segments(resolve(dirname(context.filename), source)))
        : source.startsWith('node:') &&
            !['renderer', 'clients'].includes(from[0]) &&
            (from[0] !== 'shared' || isDisk(from))
          ? undefined
          : forbiddenPackages[from[0]]?.test(source)
            ? `${from[0]}/ may not import ${source}.`
            : undefined
      if (message) context.report({ node: node.source, message })
    }
    return {
      Program(node) {
        const folder = from.slice(0, -1).join('/')
        const loose = foldersOfFolders.get(folder)
        if (loose === undefined || loose.includes(from.at(-1))) return
        const held = loose.length === 0 ? 'folders' : `${loose.join(', ')} and folders`
        context.report({ node, message: `${folder}/ holds ${held} only: put this file into one.` })
      },
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    }
  },
}
