import { render } from 'preact';
import { App } from './app.tsx';
import { start } from './state/store.ts';
import './style.css';

start();
const host = document.getElementById('app');
if (host) render(<App />, host);
