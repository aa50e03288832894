import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import typescript from 'typescript'
import ts from 'typescript-eslint'
import * as vueParser from 'vue-eslint-parser'

const root = join(import.meta.dirname, '..')

/** Compiler options that typescript-eslint sets for programs of its own. */
const compilerOptions = { allowJs: true, checkJs: true, allowNonTsExtensions: true, noEmit: true }

/** Programs by the path of their tsconfig.json. @type {Map<string, typescript.Program>} */
const programs = new Map()

/**
 * Takes from a component what its parser passes on as TypeScript.
 * @param {string} file @param {string} text
 */
function scriptOf(file, text) {
  let script = ''
  const recorder = {
    parseForESLint(/** @type {string} */ code, /** @type {{ project?: unknown }} */ options) {
      // Expressions of the template have no project.
      if (options.project) script = code
      return ts.parser.parseForESLint(code, { ...options, project: undefined })
    },
  }
  vueParser.parseForESLint(text, { filePath: file, project: true, sourceType: 'module', parser: recorder })
  return script
}

/** Makes the program of a tsconfig.json, in which each component stands for its script. @param {string} project */
function programOf(project) {
  const known = programs.get(project)
  if (known) return known
  const path = join(root, project)
  const extensions = [{ extension: '.vue', isMixedContent: true, scriptKind: typescript.ScriptKind.Deferred }]
  const { config } = typescript.readConfigFile(path, typescript.sys.readFile)
  const folder = join(path, '..')
  const { fileNames, options } = typescript.parseJsonConfigFileContent(
    ...[config, typescript.sys, folder, compilerOptions, path, undefined, extensions],
  )
  const host = typescript.createCompilerHost(options, true)
  const { getSourceFile } = host
  host.getSourceFile = (file, language, ...rest) =>
    file.endsWith('.vue')
      ? typescript.createSourceFile(
          ...[file, scriptOf(file, readFileSync(file, 'utf8')), language, true, typescript.ScriptKind.TS],
        )
      : getSourceFile(file, language, ...rest)
  const program = typescript.createProgram({ rootNames: fileNames, options, host })
  programs.set(project, program)
  return program
}

/**
 * Parses as typescript-eslint does, with one program for all files of a tsconfig.json. typescript-eslint by itself makes a new program for
 * each component, because the script differs from the text on disk, and then checks all types anew.
 * It still does so for a text that has changed since it was read, as in an editor.
 */
export const programParser = {
  meta: { name: 'roomdesk/program-parser', version: '1' },
  /** @param {string} code @param {import('@typescript-eslint/parser').ParserOptions} options */
  parseForESLint(code, options) {
    const { project, filePath } = options
    if (!Array.isArray(project) || !filePath) return ts.parser.parseForESLint(code, options)
    const program = project.map((one) => programOf(one)).find((one) => one.getSourceFile(filePath)?.text === code)
    if (!program) return ts.parser.parseForESLint(code, options)
    return ts.parser.parseForESLint(code, { ...options, project: undefined, programs: [program] })
  },
}
