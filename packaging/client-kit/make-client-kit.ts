import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { generatedSources } from './generated-sources.ts'

const root = join(import.meta.dirname, '../..')
const kit = join(root, 'clients/typescript')

interface GeneratedFile {
  path: string
  content: string
}

/** Returns the files of the kit that are derived from the contract and from the product, as they must be. */
export function generatedFiles(): GeneratedFile[] {
  const sources = Object.entries(generatedSources).map(([name, source]) => file(join(kit, 'src', name), source()))
  const description = join(kit, 'package.json')
  return [...sources, file(description, JSON.stringify({ ...read(description), version: version() }))]
}

/** Formats of the build, with the kind of package that Node reads them as. */
const formats = [
  { name: 'esm', module: 'esnext', type: 'module' },
  { name: 'cjs', module: 'commonjs', type: 'commonjs' },
] as const

/**
 * Builds the kit as ES modules and as CommonJS, each with its types.
 * @param folder target; created if it does not exist
 */
export function buildClientKit(folder = join(kit, 'dist')): void {
  for (const { name, module, type } of formats) {
    const outDir = join(folder, name)
    run('node_modules/typescript/bin/tsc', ['-p', kit, '--module', module, '--outDir', outDir])
    writeFileSync(join(outDir, 'package.json'), `${JSON.stringify({ type })}\n`)
  }
}

/**
 * Writes the derived files, builds the kit, and packs it for `npm install`.
 * @returns path of the package
 */
export function makeClientKit(): string {
  for (const { path, content } of generatedFiles()) writeFileSync(path, content)
  buildClientKit()
  const output = join(root, 'release')
  mkdirSync(output, { recursive: true })
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', output], { cwd: kit, encoding: 'utf8' })
  return join(output, name.trim())
}

function version(): string {
  return z.object({ version: z.string() }).parse(read(join(root, 'package.json'))).version
}

function read(path: string): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')))
}

function file(path: string, content: string): GeneratedFile {
  const biome = 'node_modules/@biomejs/biome/bin/biome'
  return { path, content: run(biome, ['format', `--stdin-file-path=${path}`], content) }
}

/** Runs a program of the development packages. @returns its output @throws Error with its output if it fails */
function run(program: string, parameters: readonly string[], input = ''): string {
  return execFileSync(process.execPath, [join(root, program), ...parameters], { cwd: root, input, encoding: 'utf8' })
}
