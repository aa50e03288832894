import type settings from '../../../../texts/en/console/settings.json'

/** A third-party component of the product: bundled code, and its runtime. */
export interface MadeWith {
  name: string
  licence: string
  use: keyof typeof settings.about.uses
}

export const madeWith: readonly MadeWith[] = [
  { name: '@koa/router', licence: 'MIT', use: 'http' },
  { name: '@peculiar/asn1-schema', licence: 'MIT', use: 'certificate' },
  { name: '@peculiar/asn1-x509', licence: 'MIT', use: 'certificate' },
  { name: '@peculiar/x509', licence: 'MIT', use: 'certificate' },
  { name: '@vueuse/core', licence: 'MIT', use: 'page' },
  { name: 'aws4', licence: 'MIT', use: 'objectStorage' },
  { name: 'electron', licence: 'MIT', use: 'shell' },
  { name: 'element-plus', licence: 'MIT', use: 'page' },
  { name: 'fast-xml-builder', licence: 'MIT', use: 'report' },
  { name: 'fast-xml-parser', licence: 'MIT', use: 'discovery' },
  { name: 'koa', licence: 'MIT', use: 'http' },
  { name: 'lowdb', licence: 'MIT', use: 'store' },
  { name: 'lru-cache', licence: 'BlueOak-1.0.0', use: 'cache' },
  { name: 'mediabunny', licence: 'MPL-2.0', use: 'recording' },
  { name: 'node-datachannel', licence: 'MPL 2.0', use: 'media' },
  { name: 'p-queue', licence: 'MIT', use: 'queue' },
  { name: 'papaparse', licence: 'MIT', use: 'csv' },
  { name: 'pg', licence: 'MIT', use: 'database' },
  { name: 'pino', licence: 'MIT', use: 'log' },
  { name: 'prom-client', licence: 'Apache-2.0', use: 'metrics' },
  { name: 'rrule-temporal', licence: 'MIT', use: 'schedules' },
  { name: 'sdp-transform', licence: 'MIT', use: 'sdp' },
  { name: 'semver', licence: 'ISC', use: 'updates' },
  { name: 'tar', licence: 'BlueOak-1.0.0', use: 'archive' },
  { name: 'temporal-polyfill', licence: 'MIT', use: 'schedules' },
  { name: 'uplot', licence: 'MIT', use: 'chart' },
  { name: 'vue', licence: 'MIT', use: 'page' },
  { name: 'vue-i18n', licence: 'MIT', use: 'page' },
  { name: 'vue-router', licence: 'MIT', use: 'page' },
  { name: 'ws', licence: 'MIT', use: 'socket' },
  { name: 'yaml', licence: 'ISC', use: 'updates' },
  { name: 'yazl', licence: 'MIT', use: 'archive' },
  { name: 'zod', licence: 'MIT', use: 'schema' },
]
