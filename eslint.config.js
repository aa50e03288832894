import vue from 'eslint-plugin-vue'
import ts from 'typescript-eslint'
import vueParser from 'vue-eslint-parser'
import { edgeOnly } from './eslint-rules/edge-only.js'
import { handledRejection } from './eslint-rules/handled-rejection.js'
import { layers } from './eslint-rules/layers.js'
import { linearPatterns } from './eslint-rules/linear-patterns.js'
import { oneWait } from './eslint-rules/one-wait.js'
import { ownPaths } from './eslint-rules/own-paths.js'
import { parentPort } from './eslint-rules/parent-port.js'
import { programParser } from './eslint-rules/program-parser.js'
import { publicApi } from './eslint-rules/public-api.js'
import { reasonedException } from './eslint-rules/reasoned-exception.js'
import { reasonedSilence } from './eslint-rules/reasoned-silence.js'
import { utilitiesFirst } from './eslint-rules/utilities-first.js'

const roomdesk = {
  rules: {
    'handled-rejection': handledRejection,
    layers,
    'linear-patterns': linearPatterns,
    'own-paths': ownPaths,
    'one-wait': oneWait,
    'parent-port': parentPort,
    'public-api': publicApi,
    'reasoned-exception': reasonedException,
    'reasoned-silence': reasonedSilence,
    'utilities-first': utilitiesFirst,
  },
}

const fromSystem = 'Take it from server/store/system/, so that the simulation can stand in for the machine.'

export default ts.config(
  { ignores: ['**/dist/', 'out/', 'release/', 'coverage/', 'node_modules/', 'test-results/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  {
    files: ['**/*.{ts,vue}'],
    extends: [ts.configs.strictTypeChecked, ts.configs.stylisticTypeChecked],
    languageOptions: {
      parser: programParser,
      parserOptions: {
        project: ['tsconfig.json', 'renderer/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
        extraFileExtensions: ['.vue'],
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // Promise.withResolvers<void>() is how a wait without a value is written.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // A listener that wants nothing; a rejection that another place reports.
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // A handler keeps its promise although today's body does not wait.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, attributes: false, properties: false } },
      ],
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true, boolean: true } }],
      // The reason of an AbortSignal is rejected with as it is.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // It does not see what a callback or another caller changed during an await.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // `void value` says that a value is read for its effect alone, or not wanted.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // A parameter that the caller states the type of.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      'max-lines': ['error', { max: 450, skipBlankLines: true, skipComments: true }],
      'no-console': ['error', { allow: ['warn', 'error'] }],
      eqeqeq: ['error', 'always'],
      'prefer-const': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
    },
  },
  {
    files: ['**/*.{ts,vue,js,mjs}'],
    plugins: { roomdesk },
    rules: { 'roomdesk/reasoned-exception': 'error' },
  },
  {
    files: ['{shared,server,main,renderer,clients}/**/*.{ts,vue}'],
    rules: {
      'roomdesk/layers': 'error',
      'roomdesk/one-wait': 'error',
      'roomdesk/public-api': 'error',
      'roomdesk/reasoned-silence': 'error',
    },
  },
  {
    files: ['{shared,server,main}/**/*.ts'],
    rules: {
      'roomdesk/handled-rejection': 'error',
      'roomdesk/own-paths': 'error',
      'roomdesk/reasoned-silence': ['error', 'results'],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: true }],
    },
  },
  {
    files: ['server/**/*.ts'],
    rules: { 'roomdesk/parent-port': 'error' },
  },
  {
    files: ['server/**/*.ts', 'main/**/*.ts'],
    rules: { 'roomdesk/linear-patterns': 'error' },
  },
  {
    files: ['{server,main}/**/*.ts'],
    plugins: { edge: { rules: { only: edgeOnly } } },
    rules: { 'edge/only': 'error' },
  },
  {
    // The simulation runs these folders on machines of its own.
    files: [
      'server/store/{backups,durable,election,files,journal,postgres,transactions}/**/*.ts',
      'server/cluster/**/*.ts',
    ],
    // Keys, which nobody may foretell.
    ignores: ['server/store/files/key-file.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval', 'setImmediate', 'performance'].map((name) => ({ name, message: fromSystem })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: fromSystem },
        { object: 'Math', property: 'random', message: fromSystem },
        { object: 'AbortSignal', property: 'timeout', message: fromSystem },
      ],
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            ...['node:timers', 'node:timers/promises'].map((name) => ({ name, message: fromSystem })),
            { name: 'node:crypto', importNames: ['randomUUID', 'randomBytes', 'randomInt'], message: fromSystem },
          ],
        },
      ],
    },
  },
  {
    // In a simulated site these have no files and no sockets; store/files has a simulated disk. Those that a real program runs before it joins its site have.
    files: ['server/store/{durable,election,journal,postgres,transactions}/**/*.ts'],
    ignores: [
      'server/store/election/controller-id.ts',
      ...['open-database', 'database-password', 'pg-client'].map((name) => `server/store/postgres/${name}.ts`),
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        ...['node:net', 'node:tls', 'node:http', 'node:fs', 'node:fs/promises'].map((name) => ({
          name,
          message: fromSystem,
        })),
      ],
    },
  },
  {
    files: ['**/*.vue'],
    extends: [vue.configs['flat/recommended']],
    languageOptions: { parser: vueParser, parserOptions: { parser: programParser } },
    rules: {
      'roomdesk/utilities-first': 'error',
      // Biome formats templates.
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-self-closing': 'off',
      'vue/html-indent': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/first-attribute-linebreak': 'off',
      'vue/attributes-order': 'off',
      'vue/multi-word-component-names': 'off',
      // Optional means undefined here, as in every other type.
      'vue/require-default-prop': 'off',
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/no-v-html': 'error',
    },
  },
  {
    files: ['renderer/room-page/**/*.{ts,vue}'],
    ignores: ['components/DeviceField.vue', 'useMeetingActs.ts'].map((name) => `renderer/room-page/${name}`),
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.property.name='turnOn']",
          message: 'Only a click turns a microphone or camera on. restore() opens it as its person left it.',
        },
      ],
    },
  },
  {
    // What a .vue module holds is known to vue-tsc only; here it is `any`.
    files: ['renderer/**/*.{ts,vue}', 'test/renderer/**/*.ts'],
    rules: {
      ...Object.fromEntries(
        ['argument', 'assignment', 'call', 'member-access', 'return'].map((name) => [
          `@typescript-eslint/no-unsafe-${name}`,
          'off',
        ]),
      ),
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      // Composables, vue-i18n's among them, are made to be taken apart.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['dev/**/*.ts'],
    // It is a command: its output is for a developer.
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'no-console': 'off',
      '@typescript-eslint/unbound-method': 'off',
      // Matchers such as expect.any() are `any`.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      // Code points are what these texts are made of.
      '@typescript-eslint/no-misused-spread': 'off',
    },
  },
  {
    // Plain JavaScript: scripts and the stand-in, which run before anything is built.
    files: ['**/*.{js,mjs}'],
    extends: [ts.configs.base],
    rules: {
      'no-undef': 'off',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'prefer-const': 'error',
      'no-var': 'error',
      eqeqeq: ['error', 'always'],
      'max-lines': ['error', { max: 450, skipBlankLines: true, skipComments: true }],
    },
  },
)
